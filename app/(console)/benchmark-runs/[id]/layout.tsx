import { benchmarkRunQueries } from '#components/benchmarks/run/queries.ts'
import { RunLayout } from '#components/benchmarks/run/run-layout.tsx'
import { detailPage } from '../../read-page.tsx'

const run = detailPage('Run', RunLayout, benchmarkRunQueries.get, (api, id) =>
  api.benchmarkRuns.get({ params: { id } }),
)

export const generateMetadata = run.title
export default run.page
