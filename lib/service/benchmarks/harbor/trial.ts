import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentRecord, RunFailure } from '#lib/service/domain/benchmark-jobs.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { type Outcome, outcomeOf, type Rewards, scoredDespiteFailure, TrialError, type Warning } from '../outcome.ts'
import type { Workbench } from '../workbench.ts'
import { SandboxBuildFailedError } from './build/dockerfile.ts'
import { type BuiltEnvironment, buildEnvironment, makeLogFolders, openDevbox, waitUntilHealthy } from './environment.ts'
import { combine, reaches } from './rewards.ts'
import { readTask, sentenceOf, type Task, type TaskStep } from './task.ts'
import { TrialAgent } from './trial-agent.ts'
import { TrialContext, type TrialDeps, type TrialDevbox, type TrialOptions, userOf } from './trial-context.ts'
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
}

/** Rejects only if no devbox can be created, which may pass; any other failure is the trial's result. */
export const runHarborTrial = async (deps: TrialDeps, options: TrialOptions): Promise<TrialResult> => {
  const { scenario, settings, folder, signal } = options
  await rm(folder, { recursive: true, force: true })
  const context = new TrialContext(deps, options)
  const { log } = context
  const { task, problems } = await readTask(scenario.path, settings.environment)
  const devbox = await openDevbox(context, task?.environment)
  options.onDevbox?.(devbox.id)
  const agent = new TrialAgent(context, devbox.workbench)
  let rewards: Rewards | null = null
  let exception: RunFailure | null = null
  try {
    if (problems) {
      for (const each of problems) if (each.differs) log.warn({ sentence: sentenceOf(each), differs: true })
      const reasons = problems.map(sentenceOf).join('; ')
      throw new TrialError('InvalidTaskError', `Task ${scenario.name} cannot be run: ${reasons}`)
    }
    await context.requireUnchangedTask()
    rewards = await runTask(context, devbox, agent, task)
    exception = log.exception
  } catch (error) {
    if (!signal.aborted && error instanceof ServiceError && error.code === 'rate_limited') {
      await context.close(devbox, { from: '', to: '' })
      throw error
    }
    exception = context.exceptionOf(error)
    log.fail(exception, error)
    if (error instanceof SandboxBuildFailedError && error.differs) log.warn({ sentence: error.message, differs: true })
  }
  await context.close(devbox, { from: '', to: '' })
  const outcome = outcomeOf(rewards, exception)
  await log.write({ rewards, exception, outcome, agent: agent.record })
  return log.withoutSecrets({
    ...outcome,
    rewards,
    agent: agent.record,
    warnings: log.warnings.map(({ sentence }) => sentence),
    environment_differs: log.warnings.some(({ differs }) => differs),
  })
}

const runTask = async (
  context: TrialContext,
  devbox: TrialDevbox,
  agent: TrialAgent,
  task: Task,
): Promise<Rewards | null> => {
  const { log, options } = context
  for (const warning of options.warnings) log.say(`WARNING ${warning}`)
  for (const warning of task.warnings) log.warn(warning)
  if (task.unsupported) {
    const { hasDockerfile, image } = task.environment
    // Without either, Docker cannot run the task.
    throw new SandboxBuildFailedError(task.unsupported, { differs: hasDockerfile || image !== '' })
  }
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
    .phase('agent_execution', () => agent.run(task, step, built))
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
    await setUpStep(devbox.workbench, run, options.signal)
    return await runStep(context, devbox, agent, run)
  } catch (error) {
    if (options.signal.aborted) throw error
    log.fail(context.exceptionOf(error), error)
    return null
  } finally {
    if (!options.signal.aborted) {
      await log.save(context.logsFolder(devbox.id), join('steps', name))
      await devbox.workbench.must(`rm -rf -- /logs/* && ${makeLogFolders}`)
    }
  }
}

const setUpStep = async (workbench: Workbench, { step, built }: StepRun, signal: AbortSignal): Promise<void> => {
  const { env, workdir, user } = built
  // The previous step left its verifier's user set.
  workbench.user = await userOf(step.agentUser, user)
  if (existsSync(join(step.folder, 'workdir'))) await workbench.send(join(step.folder, 'workdir'), workdir)
  if (existsSync(join(step.folder, 'workdir', 'setup.sh'))) {
    const script = 'bash ./setup.sh >/logs/agent/setup.txt 2>&1'
    const { exitStatus } = await workbench.run(script, { env, cwd: workdir, signal })
    if (exitStatus !== 0) throw new Error(`setup.sh of step ${step.name} failed with exit code ${exitStatus}`)
  }
  if (step.healthcheck) await waitUntilHealthy(workbench, step.healthcheck, { cwd: workdir, env, signal })
}

const setuidWarning: Warning = {
  sentence: 'The image has setuid programs (chmod u+s), which run with the permissions of their caller here',
  differs: true,
}
