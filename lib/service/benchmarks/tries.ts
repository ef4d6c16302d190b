import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import { type Devbox, maxKeepAliveSeconds } from '#lib/contract/devboxes.ts'
import type { ScoringResult } from '#lib/contract/scenario-runs.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import type { Trial } from '#lib/service/domain/benchmark-jobs.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { isDiskFull, ServiceError } from '#lib/service/kit/errors.ts'
import type { BenchmarkRunRecord } from '#lib/service/store/benchmark-runs.ts'
import type { ScenarioRunStore } from '#lib/service/store/scenario-runs.ts'
import type { ScenarioStore } from '#lib/service/store/scenarios.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import { defaultAgentTimeoutSeconds, runAgent } from './agents.ts'
import { type Outcome, outcomeOf, type Rewards, type TrialException } from './harbor/outcome.ts'
import type { HarborPlan } from './harbor/plan.ts'
import { runTrial } from './harbor/trial.ts'
import type { JobPlan } from './job-plan.ts'
import type { ScenarioRuns } from './scenario-runs.ts'
import { createScrubber } from './scrub.ts'

/** One try of a trial: which scenario, for which run, and which try it is. */
export interface Try {
  account: string
  run: BenchmarkRunRecord
  agent: AgentConfig
  scenario: { id: string; name: string }
  plan: JobPlan
  /** Its place in the plan. */
  place: Trial
  retry: number
}

export interface TryEnd extends Outcome {
  result: ScoringResult | null
}

interface TryDeps {
  store: { scenarioRuns: ScenarioRunStore; scenarios: ScenarioStore; secrets: SecretStore }
  scenarioRuns: ScenarioRuns
  devboxes: Devboxes
  executions: Executions
  folderOf: (devboxId: string) => string
  logFolderOf: (scenarioRunId: string) => string
}

/** A try to its end, with the scenario run under the id it is given. Rejects for want of room, or when aborted. */
export type RunTry = (order: Try, scenarioRunId: string, signal: AbortSignal) => Promise<TryEnd>

export const createRunTry =
  (deps: TryDeps): RunTry =>
  async (order, id, signal) => {
    if (order.plan.harbor)
      return deps.scenarioRuns.working(id, runHarborTry(deps, order, order.plan.harbor, id, signal))
    await openScenarioTry(deps, order, id)
    return runScenarioTry(deps, order, id, signal)
  }

// Every way a devbox can settle after it was asked to start.
const settled = ['running', 'suspending', 'suspended', 'failure', 'shutdown']
/** Of a devbox, beyond the time of its agent: to start, to be scored, to be shut down. */
const spareSeconds = 2 * 3600

/** Opens the scenario run of a try: its devbox is starting. Throws what stands in the way of a devbox. */
const openScenarioTry = async ({ store, scenarioRuns }: TryDeps, order: Try, id: string): Promise<void> => {
  const { account, run, scenario, place, retry } = order
  const found = store.scenarios.get(account, scenario.id)
  const keepAlive = Math.min(Math.ceil(timeoutOf(order) + spareSeconds), maxKeepAliveSeconds)
  await scenarioRuns.open({
    id,
    account,
    scenario: found ?? { ...scenario, environment: null },
    benchmarkRunId: run.id,
    name: scenario.name,
    metadata: {},
    profile: { ...run.profile, launchParameters: { keep_alive_time_seconds: keepAlive } },
    attempt: place.attempt,
    retry,
  })
}

/** Runs the agent in the devbox of a scenario run and has it judged. Rejects for want of room, or when aborted. */
const runScenarioTry = async (deps: TryDeps, order: Try, id: string, signal: AbortSignal): Promise<TryEnd> => {
  const { store, scenarioRuns, devboxes, executions } = deps
  const { account, agent } = order
  const scenarioRun = store.scenarioRuns.record(id)
  const scenario = store.scenarios.get(account, order.scenario.id)
  const devboxId = scenarioRun?.devbox_id
  if (!scenarioRun || !scenario || !devboxId) throw new Error(`Scenario run ${id} has no devbox or no scenario`)
  try {
    const devbox = await devboxes.reaches(account, devboxId, settled, maxStartMs, signal)
    signal.throwIfAborted()
    if (devbox?.status !== 'running') return endedBy(startFailure(devbox))
    const exception = await runAgent({
      account,
      scenario,
      agent,
      devboxId,
      devbox: () => devboxes.running(account, devboxId, 'execute'),
      executions,
      timeoutSeconds: timeoutOf(order),
      attempt: order.retry + 1,
      scrub: createScrubber(Object.values(store.secrets.reveal(account, order.run.profile.secrets ?? {}))).text,
      signal,
    })
    // Not judged: whatever it is worth, a trial that ran out of time has no score.
    if (exception?.exception_type === 'AgentTimeoutError') return endedBy(exception)
    const result = await scenarioRuns.judge(scenarioRun, signal)
    return { ...outcomeOf({ reward: result.score }, exception), result }
  } catch (error) {
    signal.throwIfAborted()
    if (isWantOfRoom(error)) throw error
    const { status } = devboxes.get(account, devboxId)
    if (status === 'running') return endedBy(asException(error))
    return endedBy({
      exception_type: 'DevboxEndedError',
      exception_message: `Devbox ${devboxId} did not stay running: ${status}`,
    })
  }
}

const runHarborTry = async (deps: TryDeps, order: Try, plan: HarborPlan, id: string, signal: AbortSignal) => {
  const { store, devboxes, executions, folderOf, logFolderOf } = deps
  const { account, place } = order
  const scenario = plan.scenarios[place.scenario]
  const agent = plan.agents[place.agent]
  if (!scenario || !agent) throw new Error(`Scenario run ${id} has no place in its job`)
  const { rewards, ...end } = await runTrial(
    { devboxes, executions, secrets: store.secrets, folderOf },
    {
      account,
      scenarioRunId: id,
      scenario,
      agent,
      settings: plan.settings,
      attempt: place.attempt + 1,
      folder: logFolderOf(id),
      signal,
      // Its benchmark run may have ended while the devbox was made: what that counts does not change any more.
      onDevbox: (devboxId) => {
        if (!signal.aborted) insertTry(store.scenarioRuns, order, id, devboxId)
      },
    },
  )
  const result = end.score === null ? null : verifierResult(end.score, rewards)
  return { ...end, failure_reason: end.failure_reason && scrubbed(deps, order, end.failure_reason), result }
}

/** The scenario run of a try; without a devbox where none could be made. */
export const insertTry = (scenarioRuns: ScenarioRunStore, order: Try, id: string, devboxId: string | null): void =>
  scenarioRuns.insert({
    id,
    account: order.account,
    scenario_id: order.scenario.id,
    scenario_name: order.scenario.name,
    benchmark_run_id: order.run.id,
    devbox_id: devboxId,
    name: order.scenario.name,
    start_time_ms: Date.now(),
    metadata: {},
    profile: order.run.profile,
    attempt: order.place.attempt,
    retry: order.retry,
  })

const scrubbed = ({ store }: TryDeps, { account, run }: Try, { exception_type, exception_message }: TrialException) => {
  const scrubber = createScrubber(Object.values(store.secrets.reveal(account, run.profile.secrets ?? {})))
  return { exception_type, exception_message: scrubber.text(exception_message) }
}

const verifierResult = (score: number, rewards: Rewards | null): ScoringResult => ({
  score,
  scoring_function_results: [
    { scoring_function_name: 'verifier', score, output: JSON.stringify(rewards), state: 'complete' },
  ],
})

const maxStartMs = 3600 * 1000

/** A day and a half at most: the devbox has to outlive it. */
const timeoutOf = ({ agent, retry, plan }: Try): number =>
  Math.min((agent.timeout_seconds ?? defaultAgentTimeoutSeconds) * plan.timeoutMultiplier ** retry, maxAgentSeconds)
const maxAgentSeconds = maxKeepAliveSeconds - 2 * spareSeconds

export const endedBy = (exception: TrialException): TryEnd => ({ ...outcomeOf(null, exception), result: null })

export const asException = (error: unknown): TrialException => {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return { exception_type: name, exception_message: message }
}

const startFailure = (devbox: Devbox | undefined): TrialException => {
  if (!devbox)
    return {
      exception_type: 'EnvironmentStartTimeoutError',
      exception_message: `Environment start timed out after ${maxStartMs / 1000} seconds`,
    }
  const reason = devbox.failure_reason ?? devbox.shutdown_reason ?? devbox.status
  return {
    exception_type: 'SandboxBuildFailedError',
    exception_message: `Devbox ${devbox.id} did not start: ${reason}`,
  }
}

/** What passes: the account has as many devboxes or commands as it may, or the disk is full. */
export const isWantOfRoom = (error: unknown): boolean =>
  isDiskFull(error) ||
  (error instanceof ServiceError && ['rate_limited', 'insufficient_storage', 'unavailable'].includes(error.code))
