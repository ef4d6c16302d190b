import { scenarioRuns } from '#lib/contract/scenario-runs.ts'
import type { Deps } from '#lib/service/deps.ts'
import { notFound } from '#lib/service/errors.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'
import { scenarioRunPage } from './scenario-run-page.ts'

export const scenarioRunRoutes = ({ store, scenarioRuns: runner }: Deps) =>
  implement(scenarioRuns, {
    start: ({ body, account, requestId }) => runner.start(account, body, requestId),
    list: ({ query, account }) => scenarioRunPage(store, account, query),
    get: ({ params, account }) => runner.get(account, params.id),
    score: ({ params, account }) => runner.score(account, params.id),
    complete: ({ params, account }) => runner.complete(account, params.id),
    cancel: ({ params, account }) => runner.cancel(account, params.id),
    downloadLogs: notImplemented,
    ofScenario: ({ params, query, account }) => {
      if (!store.scenarios.get(account, params.id)) notFound('scenario', params.id)
      return scenarioRunPage(store, account, { ...query, scenario_id: params.id })
    },
  })
