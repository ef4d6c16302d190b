import { keepPreviousData, type QueryKey, queryOptions } from '@tanstack/react-query'
import type { PickerPage, PickerQuery } from '#components/list/record-picker.tsx'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { benchmarks } from '#lib/contract/benchmarks.ts'
import { maxPageSize } from '#lib/contract/page-sizes.ts'
import { scenarios } from '#lib/contract/scenarios.ts'
import { secrets } from '#lib/contract/secrets.ts'

const pageApi = browserApi({ benchmarks, scenarios, secrets })

const pageSize = 50

const parts = (
  kind: string,
  search: string,
  read: (query: object, signal: AbortSignal) => Promise<PickerPage>,
): PickerQuery =>
  queryOptions<PickerPage, Error, PickerPage, QueryKey>({
    queryKey: ['job-parts', kind, search],
    queryFn: ({ signal }) => read({ limit: pageSize, ...(search && { search }) }, signal),
    placeholderData: keepPreviousData,
  })

export const jobPartQueries = {
  benchmarks: (search: string) =>
    parts('benchmarks', search, async (query, signal) => {
      const { benchmarks, total_count } = await pageApi.benchmarks.list({ query, signal })
      const rows = benchmarks.map(({ scenarioIds, ...each }) => ({
        ...each,
        detail: formatCountOf(scenarioIds.length, 'scenario'),
      }))
      return { rows, total: total_count ?? null }
    }),

  scenarios: (search: string) =>
    parts('scenarios', search, async (query, signal) => {
      const { scenarios, total_count } = await pageApi.scenarios.list({ query, signal })
      const rows = scenarios.map((each) => ({ ...each, detail: each.status === 'active' ? '' : each.status }))
      return { rows, total: total_count ?? null }
    }),

  secretNames: () =>
    queryOptions({
      queryKey: ['job-parts', 'secret-names'] as const,
      queryFn: async ({ signal }) =>
        (await pageApi.secrets.list({ query: { limit: maxPageSize }, signal })).secrets.map(({ name }) => name),
      staleTime: 10_000,
    }),
}
