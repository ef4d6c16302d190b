import type { ScenarioCreate, Scorer } from '#lib/contract/scenarios.ts'
import type { TestService } from './service.ts'

/** A minimal scenario with one scoring function. */
export const scenarioOf = (scorer: Scorer, more: Partial<ScenarioCreate> = {}): ScenarioCreate => ({
  name: 'a scenario',
  input_context: { problem_statement: 'Solve it' },
  scoring_contract: { scoring_function_parameters: [{ name: 'it', weight: 1, scorer }] },
  ...more,
})

export const command = (text: string): Scorer => ({ type: 'command_scorer', command: text })
export const script = (text: string): Scorer => ({ type: 'bash_script_scorer', bash_script: text })

export const makeScenario = async (service: TestService, scorer: Scorer, more: Partial<ScenarioCreate> = {}) =>
  (await service.client.scenarios.create({ body: scenarioOf(scorer, more) })).id

/** Waits until the run has one of the states or has ended. */
export const runReaches = async (service: TestService, id: string, ...states: string[]) => {
  for (;;) {
    const run = await service.client.scenarioRuns.get({ params: { id } })
    if ([...states, 'completed', 'canceled', 'timeout', 'failed'].includes(run.state)) return run
  }
}

/** Starts a run and waits until its devbox is running. */
export const startRun = async (service: TestService, scenarioId: string, more: object = {}) => {
  const { id, devbox_id } = await service.client.scenarioRuns.start({ body: { scenario_id: scenarioId, ...more } })
  await devboxReaches(service, devbox_id, 'running')
  return { id, devboxId: devbox_id }
}

export const devboxReaches = async (service: TestService, id: string, ...statuses: string[]) => {
  for (;;) {
    const devbox = await service.client.devboxes.get({ params: { id } })
    if ([...statuses, 'failure', 'shutdown'].includes(devbox.status)) return devbox
  }
}

export const scoreOf = async (service: TestService, scenarioId: string, prepare?: string, more: object = {}) => {
  const { id, devboxId } = await startRun(service, scenarioId, more)
  if (prepare) await service.client.executions.executeSync({ params: { id: devboxId }, body: { command: prepare } })
  await service.client.scenarioRuns.score({ params: { id } })
  const { state, scoring_contract_result } = await runReaches(service, id, 'scored', 'running')
  await service.client.scenarioRuns.cancel({ params: { id } }).catch(() => undefined)
  return { state, score: scoring_contract_result?.score, functions: scoring_contract_result?.scoring_function_results }
}
