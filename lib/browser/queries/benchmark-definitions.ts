import { type BenchmarkListQuery, benchmarks } from '#lib/contract/benchmarks.ts'
import { browserApi } from '../api/browser-api.ts'
import { listPages } from './list/pages.ts'

const pageApi = browserApi({ benchmarks })
type Api = typeof pageApi

/** Separate from `benchmarkQueries`, because other lists only need benchmark metadata. */
export const benchmarkDefinitionQueries = {
  list: (query: BenchmarkListQuery, api: Api = pageApi) =>
    listPages({
      queryKey: ['benchmarks', 'list', query],
      query,
      read: (query, signal) => api.benchmarks.list({ query, signal }),
      rowsOf: (page) => page.benchmarks,
    }),
}
