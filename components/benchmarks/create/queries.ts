import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { benchmarks } from '#lib/contract/benchmarks.ts'
import { maxPageSize } from '#lib/contract/page-sizes.ts'
import { scenarios } from '#lib/contract/scenarios.ts'
import { secrets } from '#lib/contract/secrets.ts'

const pageApi = browserApi({ benchmarks, scenarios, secrets })

const pageSize = 50

interface PartPage {
  rows: { id: string; name: string; detail: string }[]
  total: number | null
}

export const jobPartQueries = {
  benchmarks: (search: string) =>
    queryOptions({
      queryKey: ['job-parts', 'benchmarks', search] as const,
      queryFn: async ({ signal }): Promise<PartPage> => {
        const query = { limit: pageSize, ...(search && { search }) }
        const { benchmarks, total_count } = await pageApi.benchmarks.list({ query, signal })
        const rows = benchmarks.map(({ id, name, scenarioIds }) => ({
          id,
          name,
          detail: formatCountOf(scenarioIds.length, 'scenario'),
        }))
        return { rows, total: total_count ?? null }
      },
      placeholderData: keepPreviousData,
    }),

  scenarios: (search: string) =>
    queryOptions({
      queryKey: ['job-parts', 'scenarios', search] as const,
      queryFn: async ({ signal }): Promise<PartPage> => {
        const query = { limit: pageSize, ...(search && { search }) }
        const { scenarios, total_count } = await pageApi.scenarios.list({ query, signal })
        const rows = scenarios.map(({ id, name, status }) => ({ id, name, detail: status === 'active' ? '' : status }))
        return { rows, total: total_count ?? null }
      },
      placeholderData: keepPreviousData,
    }),

  secretNames: () =>
    queryOptions({
      queryKey: ['job-parts', 'secret-names'] as const,
      queryFn: async ({ signal }) =>
        (await pageApi.secrets.list({ query: { limit: maxPageSize }, signal })).secrets.map(({ name }) => name),
      staleTime: 10_000,
    }),
}
