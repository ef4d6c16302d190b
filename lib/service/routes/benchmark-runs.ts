import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import type { Deps } from '#lib/service/deps.ts'
import { attachment } from '#lib/service/http/content-disposition.ts'
import { implement } from '#lib/service/http/implement.ts'
import { envelope, pageOf } from './pages.ts'
import { scenarioRunPage } from './scenario-run-page.ts'

export const benchmarkRunRoutes = ({ store, benchmarkRuns: runner, logArchives }: Deps) =>
  implement(benchmarkRuns, {
    list: ({ query, account }) =>
      envelope(
        'runs',
        pageOf(
          query,
          'benchmark run',
          (id) => store.benchmarkRuns.position(account, id),
          (before) => store.benchmarkRuns.list(account, query, before),
        ),
      ),
    get: ({ params, account }) => runner.get(account, params.id),
    scenarioRuns: ({ params, query, account }) => {
      runner.get(account, params.id)
      return scenarioRunPage(store, account, { ...query, benchmark_run_id: params.id })
    },
    complete: ({ params, account }) => runner.complete(account, params.id),
    cancel: ({ params, account }) => runner.cancel(account, params.id),
    downloadLogs: ({ params, account, setHeader }) => {
      const { name } = runner.get(account, params.id)
      setHeader('content-disposition', attachment(`${name || params.id}-logs.zip`.replaceAll('/', '-')))
      return logArchives.ofBenchmarkRun(params.id)
    },
  })
