import type { Metadata } from 'next'
import { benchmarkJobQueries } from '#components/benchmarks/job/queries.ts'
import { JobList } from '#components/benchmarks/job-list.tsx'
import { JobSearchParams, jobQueryOf } from '#components/benchmarks/job-search-params.ts'
import { forService } from '#lib/browser/lists/service-sort.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Benchmark jobs' })

export default listPage(
  JobList,
  'jobColumns',
  JobSearchParams,
  (view, api, canSort) => benchmarkJobQueries.list(forService(jobQueryOf(view), canSort), api),
  'benchmarkJobs.list',
)
