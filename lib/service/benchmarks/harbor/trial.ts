import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentRecord, RunFailure } from '#lib/service/domain/benchmark-jobs.ts'
import { isDiskFull, ServiceError } from '#lib/service/kit/errors.ts'
import { unknownUsage } from '../agents/usage.ts'
import { type Outcome, outcomeOf, type Rewards, scoredDespiteFailure, TrialError, type Warning } from '../outcome.ts'
import type { Workbench } from '../workbench.ts'
import { SandboxBuildFailedError } from './build/dockerfile.ts'
import { type BuiltEnvironment, buildEnvironment, makeLogFolders, openDevbox, waitUntilHealthy } from './environment.ts'
import { combine, reaches } from './rewards.ts'
import { readTask, sentenceOf, type Task, type TaskStep } from './task.ts'
import { TrialAgent } from './trial-agent.ts'
import { TrialContext, type TrialDeps, type TrialDevbox, type TrialOptions } from './trial-context.ts'
import { verify } from './trial-verifier.ts'

export type { TrialOptions } from './trial-context.ts'

/** Contains none of the secrets the trial was given. */
export interface TrialResult extends Outcome {
  rewards: Rewards | null
  agent: AgentRecord
  /** How the task did not run as its author intended. */
  warnings: string[]
  /** Whether that may have changed the score. */
  environment_differs: boolean
  /** Null if no devbox was created. */
  engine: string | null
}

/** Rejects only if no devbox can be created, which may pass; any other failure is the trial's result. */
export const runHarborTrial = async (deps: TrialDeps, options: TrialOptions): Promise<TrialResult> => {
  const { scenario, settings, folder, signal } = options
  await rm(folder, { recursive: true, force: true })
  const context = new TrialContext(deps, options)
  const { log } = context
  const { forceBuild } = settings.environment
  const { task, problems } = await readTask(scenario.path, { forceBuild, hasImages: deps.images !== undefined })
  let devbox: TrialDevbox | undefined
  let agent: TrialAgent | undefined
  let engine: string | null = deps.images?.engine ?? null
  let rewards: Rewards | null = null
  let exception: RunFailure | null = null
  try {
    if (problems) {
      for (const each of problems) if (each.differs) log.warn({ sentence: sentenceOf(each), differs: true })
      const reasons = problems.map(sentenceOf).join('; ')
      throw new TrialError('InvalidTaskError', `Task ${scenario.name} cannot be run: ${reasons}`)
    }
    await context.requireUnchangedTask()
    warnOf(context, task)
    devbox = await context.phase('environment_setup', () => openDevbox(context, task.environment))
    options.onDevbox?.(devbox.id, false)
    agent = new TrialAgent(context, devbox.workbench)
    rewards = await runTask(context, devbox, agent, task)
    exception = log.exception
  } catch (error) {
    if (!signal.aborted && (devbox ? isRateLimited(error) : error instanceof ServiceError || isDiskFull(error))) {
      if (devbox) await context.close(devbox, { from: '', to: '' })
      throw error
    }
    exception = context.exceptionOf(error)
    log.fail(exception, error)
    if (error instanceof SandboxBuildFailedError && error.differs) log.warn({ sentence: error.message, differs: true })
  }
  if (devbox) {
    if (exception) await context.checkNode(devbox.id)
    if (context.nodeFailure) {
      exception = context.nodeFailure
      rewards = null
      log.say(`${exception.exception_type}: ${exception.exception_message}`)
    }
    engine = deps.devboxes.get(options.account, devbox.id).isolation?.sandbox ?? engine
    await context.close(devbox, { from: '', to: '' })
  }
  const outcome = outcomeOf(rewards, exception)
  const record = agent?.record ?? noAgent
  await log.write({ rewards, exception, outcome, agent: record, engine })
  return log.withoutSecrets({
    ...outcome,
    rewards,
    engine,
    agent: record,
    warnings: log.warnings.map(({ sentence }) => sentence),
    environment_differs: log.warnings.some(({ differs }) => differs),
  })
}

const isRateLimited = (error: unknown) => error instanceof ServiceError && error.code === 'rate_limited'

const noAgent: AgentRecord = { version: null, usage: unknownUsage('the agent did not start'), trajectories: [] }

const warnOf = ({ log, options }: TrialContext, { warnings, unsupported, environment }: Task): void => {
  for (const warning of options.warnings) log.say(`WARNING ${warning}`)
  for (const warning of warnings) log.warn(warning)
  // Without a Dockerfile or an image, Docker cannot run the task.
  const differs = environment.hasDockerfile || environment.image !== ''
  if (unsupported) throw new SandboxBuildFailedError(unsupported, { differs })
}

const runTask = async (
  context: TrialContext,
  devbox: TrialDevbox,
  agent: TrialAgent,
  task: Task,
): Promise<Rewards | null> => {
  const { log } = context
  const built = await context.phase('environment_setup', () => buildEnvironment(context, devbox, task.environment))
  const users = task.steps.flatMap(({ agentUser, verifierUser }) => [agentUser, verifierUser, built.user])
  if (built.hasSetuidFiles && users.some((user) => user !== null)) log.warn(setuidWarning)
  await context.phase('agent_setup', () => agent.prepare(task, built))
  const isMultiStep = task.steps.some(({ name }) => name !== null)
  const results: (Rewards | null)[] = []
  for (const step of task.steps) {
    const rewards = isMultiStep
      ? await runNamedStep(context, devbox, agent, { task, step, built })
      : await runStep(context, devbox, agent, { task, step, built })
    results.push(rewards)
    if (step === task.steps.at(-1) || (rewards !== null && reaches(rewards, step.minReward))) continue
    log.say(`Step ${step.name} ${rewards ? 'missed its min_reward' : 'has no reward'}; skipping the remaining steps`)
    break
  }
  return combine(results, isMultiStep ? task.rewardStrategy : 'final')
}

interface StepRun {
  task: Task
  step: TaskStep
  built: BuiltEnvironment
}

const runStep = async (
  context: TrialContext,
  devbox: TrialDevbox,
  agent: TrialAgent,
  { task, step, built }: StepRun,
): Promise<Rewards> => {
  const { log, options } = context
  await context
    .phase('agent_execution', async () => {
      await devbox.workbench.setNetwork(step.agentNetwork)
      await agent.run(task, step, built)
    })
    .catch((error: unknown) => {
      if (options.signal.aborted || !scoredDespiteFailure.includes((error as Error).name)) throw error
      log.fail(context.exceptionOf(error), error)
    })
  await agent.recordStep(step)
  const rewards = await context.phase('verifier', () => verify(context, devbox, { task, step, built }))
  log.reward(rewards)
  return rewards
}

const runNamedStep = async (
  context: TrialContext,
  devbox: TrialDevbox,
  agent: TrialAgent,
  run: StepRun,
): Promise<Rewards | null> => {
  const { log, options } = context
  const name = run.step.name ?? ''
  try {
    log.beginStep(name)
    await setUpStep(context, devbox.workbench, run)
    return await runStep(context, devbox, agent, run)
  } catch (error) {
    if (options.signal.aborted) throw error
    log.fail(context.exceptionOf(error), error)
    return null
  } finally {
    if (!options.signal.aborted) {
      await context.saveLogs(devbox, { from: '', to: join('steps', name) })
      await devbox.workbench.must(`rm -rf -- /logs/* && ${makeLogFolders}`)
    }
  }
}

const setUpStep = async (context: TrialContext, workbench: Workbench, { step, built }: StepRun): Promise<void> => {
  const { signal } = context.options
  const { env, workdir, user } = built
  // The previous step left its verifier's user set.
  workbench.user = await context.userOf(step.agentUser, user)
  if (existsSync(join(step.folder, 'workdir'))) await workbench.send(join(step.folder, 'workdir'), workdir)
  if (existsSync(join(step.folder, 'workdir', 'setup.sh'))) {
    const script = 'bash ./setup.sh >/logs/agent/setup.txt 2>&1'
    const { exitStatus } = await workbench.run(script, { env, cwd: workdir, signal })
    if (exitStatus !== 0) throw new Error(`setup.sh of step ${step.name} failed with exit code ${exitStatus}`)
  }
  if (step.healthcheck) await waitUntilHealthy(workbench, step.healthcheck, { cwd: workdir, env, signal })
}

const setuidWarning: Warning = {
  sentence: 'The image has setuid programs (sudo, chmod u+s), which run with the permissions of their caller here',
  differs: true,
}
