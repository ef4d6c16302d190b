import { join } from 'node:path'
import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import { maxKeepAliveSeconds } from '#lib/contract/launch-parameters.ts'
import type { ScoringResult } from '#lib/contract/scenario-runs.ts'
import type { Scenario } from '#lib/contract/scenarios.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import { type AgentRecord, nodeLost, type RunFailure, type TrialPlace } from '#lib/service/domain/benchmark-jobs.ts'
import { networkUnder } from '#lib/service/domain/launch-parameters.ts'
import { allowsName } from '#lib/service/engine/network/rules.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { isDiskFull, ServiceError } from '#lib/service/kit/errors.ts'
import type { BenchmarkRunRecord } from '#lib/service/store/benchmark-runs.ts'
import type { ScenarioRunStore } from '#lib/service/store/scenario-runs.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'
import { bytesBelow } from '#lib/service/store/stored-bytes.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import { agentFailure, defaultAgentTimeoutSeconds, runAgent } from './agents/agents.ts'
import type { AgentInstalls } from './agents/installs.ts'
import {
  type NetworkRestriction,
  prepareAgent,
  scriptOf,
  traceOf,
  trajectoryFile,
  variablesOf,
} from './agents/named-run.ts'
import { unknownUsage } from './agents/usage.ts'
import type { Environments } from './environments.ts'
import type { TaskImages } from './harbor/images/task-images.ts'
import { runHarborTrial } from './harbor/trial.ts'
import {
  asException,
  type Outcome,
  outcomeOf,
  pythonSeconds,
  type Rewards,
  rewardResult,
  TrialError,
} from './outcome.ts'
import type { HarborPart, JobPlan } from './plan.ts'
import type { ScenarioRuns } from './scenario-runs.ts'
import { createScrubber } from './scrub.ts'
import { saveFiles } from './transfer.ts'
import { outputTail, Workbench } from './workbench.ts'

export interface Trial {
  account: string
  run: BenchmarkRunRecord
  agent: AgentConfig
  scenario: { id: string; name: string }
  plan: JobPlan
  place: TrialPlace
  retry: number
}

export interface TrialEnd extends Outcome {
  result: ScoringResult | null
  rewards?: Rewards | null
  warnings?: string[]
  environment_differs?: boolean
  engine?: string | null
  agent_record?: AgentRecord
}

interface TrialDeps {
  store: Pick<Stores, 'networkPolicies' | 'scenarioRuns' | 'scenarios' | 'secrets'>
  scenarioRuns: ScenarioRuns
  devboxes: Devboxes
  executions: Executions
  folderOf: (devboxId: string) => string
  logFolderOf: (scenarioRunId: string) => string
  quota: StorageQuota
  strictEnvironments: boolean
  installs: AgentInstalls
  environments: Environments
  images: TaskImages | undefined
}

export interface TrialHooks {
  signal: AbortSignal
  onDevbox: (devboxId: string) => void
}

/** Runs a trial once, as the scenario run `scenarioRunId`. Rejects if there is no capacity, or when aborted. */
export type RunTrial = (trial: Trial, scenarioRunId: string, hooks: TrialHooks) => Promise<TrialEnd>

export const createRunTrial =
  (deps: TrialDeps): RunTrial =>
  async (trial, id, hooks) => {
    try {
      if (trial.plan.harbor)
        return await deps.scenarioRuns.working(id, harborTrial(deps, trial, trial.plan.harbor, id, hooks))
      await openScenarioTrial(deps, trial, id)
      return await runScenarioTrial(deps, trial, id, hooks)
    } finally {
      deps.quota.add(trial.account, 'run logs', await bytesBelow(deps.logFolderOf(id)).catch(() => 0))
    }
  }

const spareSeconds = 2 * 3600

const openScenarioTrial = async ({ store, scenarioRuns }: TrialDeps, trial: Trial, id: string): Promise<void> => {
  const { account, run, scenario, place, retry } = trial
  const found = store.scenarios.get(account, scenario.id)
  const keepAlive = Math.min(Math.ceil(timeoutOf(trial) + spareSeconds), maxKeepAliveSeconds)
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

const runScenarioTrial = async (
  deps: TrialDeps,
  trial: Trial,
  id: string,
  { signal, onDevbox }: TrialHooks,
): Promise<TrialEnd> => {
  const { store, scenarioRuns, devboxes, executions } = deps
  const { account } = trial
  const scenarioRun = store.scenarioRuns.record(id)
  const scenario = store.scenarios.get(account, trial.scenario.id)
  const devboxId = scenarioRun?.devbox_id
  if (!scenarioRun || !scenario || !devboxId) throw new Error(`Scenario run ${id} has no devbox or no scenario`)
  onDevbox(devboxId)
  const workbench = new Workbench({ account, devboxId, devboxes, executions, signal })
  let agent: AgentRecord | undefined
  const ended = (exception: RunFailure) => ({ ...endedBy(exception), ...(agent && { agent_record: agent }) })
  try {
    await workbench.startWithin(maxStartSeconds, startTimeout, (limit) => workbench.started(limit))
    const exception = await runCommand(deps, workbench, { ...trial, scenario, id, devboxId }, signal, (trace) => {
      agent = trace
    })
    const result = await scenarioRuns.runScorers(scenarioRun, signal)
    return { ...outcomeOf({ reward: result.score }, exception), result, ...(agent && { agent_record: agent }) }
  } catch (error) {
    signal.throwIfAborted()
    const lost = await devboxes.lostNode(devboxId)
    if (lost !== undefined) return ended({ exception_type: nodeLost, exception_message: lost })
    if (error instanceof TrialError) return ended(asException(error))
    if (isOutOfCapacity(error)) throw error
    const { status } = devboxes.get(account, devboxId)
    if (status === 'running') return ended(asException(error))
    return ended({
      exception_type: 'DevboxEndedError',
      exception_message: `Devbox ${devboxId} did not stay running: ${status}`,
    })
  }
}

/** Runs the agent: null if it succeeds or has no command, else the failure. Calls `note` in both cases. */
const runCommand = async (
  deps: TrialDeps,
  workbench: Workbench,
  trial: Omit<Trial, 'scenario'> & { scenario: Scenario; id: string; devboxId: string },
  signal: AbortSignal,
  note: (trace: AgentRecord) => void,
): Promise<RunFailure | null> => {
  const { agent, scenario, retry, account, id, devboxId, plan, place } = trial
  const definition = plan.agents?.[place.agent] ?? null
  const command = agent.kwargs?.command
  const script = definition ? scriptOf(definition) : command
  if (typeof script !== 'string') {
    note({ version: null, usage: unknownUsage(`${agent.name} calls no model`), trajectories: [] })
    return null
  }
  const scrubber = scrubberOf(deps, trial)
  const folder = `agent-${id}`
  const logs = `${workbench.tmp}/${folder}`
  await workbench.must('mkdir -p -- "$FOLDER"', { FOLDER: logs })
  const env = {
    // The devbox has these, too, but they are checked before it starts.
    ...(definition && {
      ...variablesOf(workbench, definition, agent.kwargs),
      ...trial.run.profile.envVars,
      ...deps.store.secrets.reveal(account, trial.run.profile.secrets ?? {}),
    }),
    HARBOR_AGENT_LOGS: logs,
  }
  const version =
    definition &&
    (await prepareAgent(workbench, definition, {
      installs: deps.installs,
      account,
      scenarioRunId: id,
      env,
      restriction: networkRestriction(deps, account, devboxId),
      signal,
    }))
  const instruction = scenario.input_context.problem_statement
  try {
    const { exitStatus, stderr } = await workbench.lend('problem_statement', instruction, (instructionFile) =>
      runAgent(workbench, {
        script,
        instruction,
        instructionFile,
        modelName: agent.model_name,
        attempt: retry + 1,
        cwd: scenario.environment?.working_directory,
        env,
        seconds: timeoutOf(trial),
        signal,
      }),
    )
    if (exitStatus === 0) return null
    const output = definition
      ? await workbench.tail(`${logs}/command.txt`)
      : outputTail({ exitStatus, stdout: '', stderr })
    return asException(agentFailure(exitStatus, scrubber.text(output)))
  } finally {
    if (!signal.aborted) {
      const { usage, hasTrajectory } = await traceOf(workbench, definition, logs)
      note({
        version: version && scrubber.text(version),
        usage,
        trajectories: hasTrajectory ? [`agent/${trajectoryFile}`] : [],
      })
      const saved = join(deps.logFolderOf(id), 'agent')
      await saveFiles(join(deps.folderOf(devboxId), 'tmp', folder), saved, {
        scrubber,
        signal,
        omit: () => undefined,
      }).catch(() => undefined)
    }
  }
}

const networkRestriction = (
  { store, devboxes }: TrialDeps,
  account: string,
  devboxId: string,
): NetworkRestriction | undefined => {
  const id = devboxes.get(account, devboxId).launch_parameters.network_policy_id
  const policy = id ? store.networkPolicies.get(account, id) : undefined
  const network = policy && networkUnder(policy.egress)
  if (!policy || !network || network === 'public') return undefined
  const source = `network policy ${policy.name} (${policy.id})`
  if (network === 'none') return { source, allows: () => false }
  // A manifest may describe hosts in words, which cannot be checked.
  return {
    source,
    allows: (host) => !/^[\w-]+(\.[\w-]+)+$/.test(host) || allowsName(host, { ...network, privateNetwork: false }),
  }
}

const harborTrial = async (
  deps: TrialDeps,
  trial: Trial,
  plan: HarborPart,
  id: string,
  { signal, onDevbox }: TrialHooks,
) => {
  const { store, devboxes, executions, folderOf, logFolderOf, strictEnvironments, installs, environments, images } =
    deps
  const { account, place } = trial
  const scenario = plan.scenarios[place.scenario]
  const agent = plan.agents[place.agent]
  if (!scenario || !agent) throw new Error(`Scenario run ${id} has no place in its job`)
  const { agent: agent_record, ...end } = await runHarborTrial(
    { devboxes, executions, secrets: store.secrets, folderOf, installs, environments, images },
    {
      account,
      scenarioRunId: id,
      scenario,
      agent,
      definition: trial.plan.agents?.[place.agent] ?? null,
      settings: plan.settings,
      warnings: plan.warnings,
      attempt: place.attempt + 1,
      strictEnvironments,
      folder: logFolderOf(id),
      signal,
      // A benchmark run that has ended keeps its counts.
      onDevbox: (devboxId, isVerifier) => {
        onDevbox(devboxId)
        if (!signal.aborted && !isVerifier) insertScenarioRun(store.scenarioRuns, trial, id, devboxId)
      },
    },
  )
  if (!signal.aborted && !store.scenarioRuns.record(id)) insertScenarioRun(store.scenarioRuns, trial, id, null)
  const { text } = scrubberOf(deps, trial)
  const failure = end.failure_reason
  return {
    ...end,
    agent_record: { ...agent_record, version: agent_record.version && text(agent_record.version) },
    warnings: end.warnings.map(text),
    failure_reason: failure && { ...failure, exception_message: text(failure.exception_message) },
    result: rewardResult(end.rewards, end),
  }
}

export const insertScenarioRun = (
  scenarioRuns: ScenarioRunStore,
  trial: Trial,
  id: string,
  devboxId: string | null,
): void =>
  scenarioRuns.insert({
    id,
    account: trial.account,
    scenario_id: trial.scenario.id,
    scenario_name: trial.scenario.name,
    benchmark_run_id: trial.run.id,
    devbox_id: devboxId,
    name: trial.scenario.name,
    start_time_ms: Date.now(),
    metadata: {},
    profile: trial.run.profile,
    attempt: trial.place.attempt,
    retry: trial.retry,
  })

const scrubberOf = ({ store }: TrialDeps, { account, run }: Pick<Trial, 'account' | 'run'>) =>
  createScrubber(Object.values(store.secrets.reveal(account, run.profile.secrets ?? {})))

const maxStartSeconds = 3600
const startTimeout = new TrialError(
  'EnvironmentStartTimeoutError',
  `Environment start timed out after ${pythonSeconds(maxStartSeconds)} seconds`,
)

/** At most a day and a half: the devbox has to outlive it. */
const timeoutOf = ({ agent, retry, plan }: Pick<Trial, 'agent' | 'retry' | 'plan'>): number =>
  Math.min((agent.timeout_seconds ?? defaultAgentTimeoutSeconds) * plan.timeoutMultiplier ** retry, maxAgentSeconds)
const maxAgentSeconds = maxKeepAliveSeconds - 2 * spareSeconds

export const endedBy = (exception: RunFailure): TrialEnd => ({ ...outcomeOf(null, exception), result: null })

/** True if a retry later may succeed: the account is at a limit, or the disk is full. */
export const isOutOfCapacity = (error: unknown): boolean =>
  isDiskFull(error) ||
  (error instanceof ServiceError && ['rate_limited', 'insufficient_storage', 'unavailable'].includes(error.code))
