import { queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { fetchWithSession } from '#lib/browser/api/console-api.ts'
import { hasScenarioRunEnded, scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { scenarios } from '#lib/contract/scenarios.ts'
import { readTrajectory } from '../logs/trajectory.ts'

const pageApi = browserApi({ scenarioRuns, scenarios })

export const scenarioRunQueries = {
  get: (id: string) =>
    queryOptions({
      queryKey: ['scenario-runs', 'get', id] as const,
      queryFn: ({ signal }) => pageApi.scenarioRuns.get({ params: { id }, signal }),
      refetchInterval: ({ state: { data } }) => (data && !hasScenarioRunEnded(data.state) ? 2000 : false),
    }),

  scenario: (id: string) =>
    queryOptions({
      queryKey: ['scenarios', 'get', id] as const,
      queryFn: ({ signal }) => pageApi.scenarios.get({ params: { id }, signal }),
    }),

  /** Returns null if the file is not a trajectory. */
  trajectory: (id: string, path: string) =>
    queryOptions({
      queryKey: ['scenario-runs', 'trajectory', id, path] as const,
      queryFn: async ({ signal }) => {
        const answer = await fetchWithSession(trajectoryAddress(id, path), { signal })
        const bytes = Number(answer.headers.get('content-length') ?? 0)
        if (bytes > maxTrajectoryBytes) {
          await answer.body?.cancel()
          throw new Error(`It has ${bytes} bytes; the limit is ${maxTrajectoryBytes}`)
        }
        return readTrajectory(await answer.text()) ?? null
      },
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 30_000,
      retry: false,
    }),
}

const maxTrajectoryBytes = 16 * 1024 * 1024

/** File names in the archive of a scenario run start with its id and have no folders. */
export const trajectoryAddress = (id: string, path: string): string =>
  `/api/scenario-runs/${encodeURIComponent(id)}/logs/file?${new URLSearchParams({ path: `${id}_${path.replaceAll('/', '_')}` })}`

export const downloadScenarioRunLogs = (id: string, signal: AbortSignal): Promise<Response> =>
  pageApi.scenarioRuns.downloadLogs({ params: { id }, signal })
