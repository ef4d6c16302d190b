import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { logsAttachment } from '#lib/service/http/content-disposition.ts'
import { implement } from '#lib/service/http/implement.ts'
import type { Deps } from '#lib/service/parts.ts'
import { listPage } from './pages.ts'

export const benchmarkRunRoutes = ({ store, benchmarkRuns: runner, logArchives }: Deps) =>
  implement(benchmarkRuns, {
    list: ({ query, account }) => listPage('runs', 'benchmark run', store.benchmarkRuns, account, query),
    get: ({ params, account }) => runner.get(account, params.id),
    scenarioRuns: ({ params, query, account }) => {
      runner.get(account, params.id)
      return listPage('runs', 'scenario run', store.scenarioRuns, account, { ...query, benchmark_run_id: params.id })
    },
    complete: ({ params, account }) => runner.complete(account, params.id),
    cancel: ({ params, account }) => runner.cancel(account, params.id),
    downloadLogs: ({ params, account, setHeader }) => {
      const { name } = runner.get(account, params.id)
      setHeader('content-disposition', logsAttachment(name || params.id))
      return logArchives.ofBenchmarkRun(params.id)
    },
  })
