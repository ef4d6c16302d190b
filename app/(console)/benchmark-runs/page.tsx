import type { Metadata } from 'next'
import { benchmarkRunQueries } from '#components/benchmarks/run/queries.ts'
import { RunList } from '#components/benchmarks/run-list.tsx'
import { RunSearchParams, runQueryOf } from '#components/benchmarks/run-search-params.ts'
import { forService } from '#lib/browser/lists/service-sort.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Benchmark runs' })

export default listPage(
  RunList,
  'runColumns',
  RunSearchParams,
  (view, api, canSort) => benchmarkRunQueries.list(forService(runQueryOf(view), canSort), api),
  'benchmarkRuns.list',
)
