import { queryOptions } from '@tanstack/react-query'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { DefinitionApi } from './read-definitions.ts'

/** What definitions say of the scenarios of jobs. Their schemas are large, and most who look at a job do without. */
const reading = () => import('./read-definitions.ts')

export const jobScenarioQueries = {
  /** Names and metadata, by the ids of scenarios; those the service no longer lists are left out. */
  known: ({ id, job_source }: BenchmarkJob, ids: readonly string[], api?: DefinitionApi) =>
    queryOptions({
      queryKey: ['benchmark-jobs', 'scenarios', id, ids.length] as const,
      queryFn: async ({ signal }) => {
        const benchmark_id = job_source?.type === 'benchmark' ? job_source.benchmark_id : null
        const { readDefinitions } = await reading()
        return readDefinitions(ids, { ...(benchmark_id && { benchmark_id }), signal }, api)
      },
      staleTime: Number.POSITIVE_INFINITY,
      retry: false,
    }),

  /** The keys that the metadata of scenarios has, most of them not only of one job. */
  metadataKeys: (api?: DefinitionApi) =>
    queryOptions({
      queryKey: ['scenarios', 'metadata-keys-of-jobs'] as const,
      queryFn: async ({ signal }) => (await reading()).readMetadataKeys(signal, api),
      staleTime: 60_000,
      retry: false,
    }),
}
