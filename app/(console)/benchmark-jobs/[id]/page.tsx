import { JobDetail } from '#components/benchmarks/job/job-detail.tsx'
import { benchmarkJobQueries } from '#components/benchmarks/job/queries.ts'
import { detailPage } from '../../read-page.tsx'

const job = detailPage('Job', JobDetail, benchmarkJobQueries.get, (api, id) =>
  api.benchmarkJobs.get({ params: { id } }),
)

export const generateMetadata = job.title
export default job.page
