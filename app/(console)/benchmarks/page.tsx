import type { Metadata } from 'next'
import { BenchmarkListPage } from '#components/benchmarks/scenarios/benchmark-list.tsx'
import { benchmarkQueries } from '#components/benchmarks/scenarios/queries.ts'
import { BenchmarkSearchParams, benchmarkQueryOf } from '#components/benchmarks/scenarios/search-params.ts'
import { forService } from '#lib/browser/lists/service-sort.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Benchmarks' })

export default listPage(
  BenchmarkListPage,
  undefined,
  BenchmarkSearchParams,
  (view, api, canSort) => benchmarkQueries.list(forService(benchmarkQueryOf(view), canSort), api),
  'benchmarks.list',
)
