import { type Scenario, type ScenarioCreate, type ScenarioUpdate, scenarios } from '#lib/contract/scenarios.ts'
import { testFilePath } from '#lib/service/benchmarks/score.ts'
import { implement } from '#lib/service/http/implement.ts'
import { invalid, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import type { Deps } from '#lib/service/parts.ts'
import { listPage, metadataHandlers, noPublic, withoutNull } from './pages.ts'

export const scenarioRoutes = ({ store, now }: Deps) => {
  const get = (account: string, id: string): Scenario => store.scenarios.get(account, id) ?? notFound('scenario', id)

  const requirePossible = (account: string, body: ScenarioCreate | ScenarioUpdate) => {
    const { blueprint_id, snapshot_id, working_directory } = body.environment_parameters ?? {}
    if (blueprint_id && snapshot_id)
      throw invalid({ field: 'environment_parameters.snapshot_id', message: "can't be combined with blueprint_id" })
    const problems = (body.scoring_contract?.scoring_function_parameters ?? []).flatMap(({ scorer }, i) => {
      const field = `scoring_contract.scoring_function_parameters.${i}.scorer`
      if (scorer.type === 'test_based_scorer')
        return (scorer.test_files ?? []).flatMap(({ file_path }, j) =>
          testFilePath(file_path) === undefined
            ? [{ field: `${field}.test_files.${j}.file_path`, message: 'must be a file below the working directory' }]
            : [],
        )
      if (scorer.type === 'custom_scorer' && !store.scorers.byType(account, scorer.custom_scorer_type))
        return [
          {
            field: `${field}.custom_scorer_type`,
            message: `custom scorer ${scorer.custom_scorer_type} does not exist`,
          },
        ]
      return []
    })
    if (working_directory?.includes('\0'))
      problems.push({ field: 'environment_parameters.working_directory', message: 'must not contain a NUL character' })
    if (problems.length > 0) throw invalid(...problems)
  }
  const setStatus = (account: string, id: string, status: 'active' | 'archived'): Scenario => {
    store.scenarios.setStatus(get(account, id).id, status)
    return get(account, id)
  }
  const scorer = (account: string, id: string) => store.scorers.get(account, id) ?? notFound('scorer', id)
  const typeTaken = (type: string) =>
    new ServiceError('conflict', `A scorer of type ${type} already exists`, { field: 'type', shouldRetry: false })

  return implement(scenarios, {
    list: ({ query, account }) => listPage('scenarios', 'scenario', store.scenarios, account, query),
    listPublic: ({ query }) => noPublic('scenarios', query),
    create: ({ body, account }) => {
      requirePossible(account, body)
      const { environment_parameters, ...fields } = body
      const id = newId('scn')
      store.scenarios.insert({
        ...fields,
        id,
        account,
        create_time_ms: now(),
        metadata: body.metadata ?? {},
        environment: environment_parameters,
      })
      return get(account, id)
    },
    ...metadataHandlers(store.scenarios),
    listScorers: ({ query, account }) => listPage('scorers', 'scorer', store.scorers, account, query),
    createScorer: ({ body, account }) => {
      const created = store.scorers.create(account, body)
      if (!created) throw typeTaken(body.type)
      return created
    },
    getScorer: ({ params, account }) => scorer(account, params.id),
    updateScorer: ({ params, body, account }) => {
      scorer(account, params.id)
      const updated = store.scorers.update(account, params.id, body)
      if (!updated) throw typeTaken(body.type)
      return updated
    },
    get: ({ params, account }) => get(account, params.id),
    update: ({ params, body, account }) => {
      const before = get(account, params.id)
      requirePossible(account, body)
      const { environment_parameters, input_context, scoring_contract, validation_type, ...fields } = body
      store.scenarios.update(params.id, {
        ...before,
        ...withoutNull(fields),
        input_context: { ...before.input_context, ...withoutNull(input_context ?? {}) },
        scoring_contract: { ...before.scoring_contract, ...withoutNull(scoring_contract ?? {}) },
        environment: environment_parameters ?? before.environment,
        validation_type: (validation_type ?? before.validation_type) || null,
      })
      return get(account, params.id)
    },
    archive: ({ params, account }) => setStatus(account, params.id, 'archived'),
    unarchive: ({ params, account }) => setStatus(account, params.id, 'active'),
  })
}
