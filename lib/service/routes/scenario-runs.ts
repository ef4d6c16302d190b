import { scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { logsAttachment } from '#lib/service/http/content-disposition.ts'
import { implement } from '#lib/service/http/implement.ts'
import { notFound } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'
import { listPage } from './pages.ts'

export const scenarioRunRoutes = ({ store, scenarioRuns: runner, logArchives }: Deps) =>
  implement(scenarioRuns, {
    start: ({ body, account }) => runner.start(account, body),
    list: ({ query, account }) => listPage('runs', 'scenario run', store.scenarioRuns, account, query),
    get: ({ params, account }) => runner.get(account, params.id),
    score: ({ params, account }) => runner.score(account, params.id),
    complete: ({ params, account }) => runner.complete(account, params.id),
    cancel: ({ params, account }) => runner.cancel(account, params.id),
    downloadLogs: ({ params, account, setHeader }) => {
      const { name } = runner.get(account, params.id)
      setHeader('content-disposition', logsAttachment(name || params.id))
      return logArchives.ofScenarioRun(params.id)
    },
    ofScenario: ({ params, query, account }) => {
      if (!store.scenarios.get(account, params.id)) notFound('scenario', params.id)
      return listPage('runs', 'scenario run', store.scenarioRuns, account, { ...query, scenario_id: params.id })
    },
  })
