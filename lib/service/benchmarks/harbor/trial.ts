import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { AgentUsage } from '#lib/contract/agent-usage.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import type { AgentRecord, RunFailure } from '#lib/service/domain/benchmark-jobs.ts'
import { machine } from '#lib/service/engine/bubblewrap/system.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import { agentFailure, runAgent } from '../agents/agents.ts'
import type { AgentDefinition } from '../agents/definition.ts'
import type { AgentInstalls } from '../agents/installs.ts'
import { prepareAgent, scriptOf, traceOf, trajectoryFile, variablesOf } from '../agents/named-run.ts'
import { sumOfUsages, unknownUsage } from '../agents/usage.ts'
import type { Environments } from '../environments.ts'
import {
  asException,
  judgedAllTheSame,
  type Outcome,
  outcomeOf,
  pythonSeconds,
  type Rewards,
  TrialError,
  type Warning,
} from '../outcome.ts'
import type { HarborScenario } from '../plan.ts'
import { shown, Workbench } from '../workbench.ts'
import { SandboxBuildFailedError } from './build/dockerfile.ts'
import { usedExtraPrograms } from './build/extra-programs.ts'
import type { Stage } from './build/sandbox-build.ts'
import { waitUntilHealthy } from './container.ts'
import { checksumOf } from './datasets.ts'
import { type Built, buildEnvironment, makeLogFolders, openDevbox } from './environment.ts'
import { lackIn } from './lack.ts'
import { combine, reaches, readRewards } from './rewards.ts'
import type { SeparateVerifier } from './separate-verifier.ts'
import { readTask, sentenceOf, solutionOf, type Task, type TaskStep } from './task.ts'
import type { TaskEnvironment } from './task-environment.ts'
import { environmentOf, type Reveal, resolve } from './templates.ts'
import { type LoggedTrial, TrialLog, type TrialPhase } from './trial-log.ts'

/** What trials need of the service. */
export interface TrialDeps {
  devboxes: Devboxes
  executions: Executions
  secrets: Pick<SecretStore, 'reveal'>
  folderOf: (devboxId: string) => string
  installs: AgentInstalls
  environments: Environments
}

export interface TrialOptions extends LoggedTrial {
  account: string
  /** Of an agent with a name of its own; null for oracle, nop and command. */
  definition: AgentDefinition | null
  /** What the job file asks for and is ignored. */
  warnings: readonly string[]
  /** Whether the trial fails when its environment is not what the task asks for. */
  strictEnvironments: boolean
  /** Its abort cancels the trial, which then still resolves. */
  signal: AbortSignal
  /** As the workbench has it. */
  ownSeconds?: number
  /** Called once, as soon as the trial has its devbox. */
  onDevbox?: (devboxId: string) => void
}

/** No secret a trial was given is in any of it. */
export interface TrialResult extends Outcome {
  rewards: Rewards | null
  agent: AgentRecord
  /** What of the task is not as its author meant it; and whether that may have changed the score. */
  warnings: string[]
  environment_differs: boolean
}

/**
 * Runs one attempt of one agent at one task, in a devbox of its own that has ended when this resolves. Rejects only when
 * no devbox can be made, which may pass; whatever the task, the agent or the devbox does is the trial's result.
 */
export const runHarborTrial = async (deps: TrialDeps, options: TrialOptions): Promise<TrialResult> => {
  const { account, scenario, scenarioRunId, settings, folder, signal } = options
  await rm(folder, { recursive: true, force: true })
  const log = new TrialLog(options)
  const read = await readTask(scenario.path, settings.environment)
  const owner = { account, scenarioRunId, name: scenario.name, settings, signal }
  const devboxId = await openDevbox(deps, owner, read.task?.environment)
  options.onDevbox?.(devboxId)
  const trial = new HarborTrial(deps, { ...options, devboxId }, log)
  let rewards: Rewards | null = null
  let exception: RunFailure | null = null
  try {
    if (read.problems) {
      for (const each of read.problems) if (each.differs) log.warn({ sentence: sentenceOf(each), differs: true })
      const reasons = read.problems.map(sentenceOf).join('; ')
      throw new TrialError('InvalidTaskError', `Task ${scenario.name} cannot be run: ${reasons}`)
    }
    await requireUnchanged(scenario)
    rewards = await trial.run(read.task)
    exception = log.exception
  } catch (error) {
    if (!signal.aborted && error instanceof ServiceError && error.code === 'rate_limited') {
      await trial.end()
      throw error
    }
    exception = exceptionOf(error, signal)
    log.fail(exception, error)
    if (error instanceof SandboxBuildFailedError && error.differs) log.warn({ sentence: error.message, differs: true })
  }
  await trial.end()
  const outcome = outcomeOf(rewards, exception)
  const agent = trial.trace()
  await log.write({ rewards, exception, outcome, agent })
  return log.withoutSecrets({
    ...outcome,
    rewards,
    agent,
    warnings: log.warnings.map(({ sentence }) => sentence),
    environment_differs: log.warnings.some(({ differs }) => differs),
  })
}

/** What was edited after the job was made would be another task under the same name. */
const requireUnchanged = async ({ name, path, checksum }: HarborScenario): Promise<void> => {
  if ((await checksumOf(path)) === checksum) return
  throw new TrialError(
    'TaskChangedError',
    `Task ${name} was changed after the job was made; a new job runs it as it is`,
  )
}

const exceptionOf = (error: unknown, signal: AbortSignal): RunFailure =>
  signal.aborted
    ? { exception_type: 'CancelledError', exception_message: 'The trial was cancelled' }
    : asException(error)

class HarborTrial {
  readonly #deps: TrialDeps
  readonly #options: TrialOptions & { devboxId: string }
  readonly #log: TrialLog
  readonly #workbench: Workbench
  readonly #reveal: Reveal
  readonly #usages: AgentUsage[] = []
  readonly #trajectories: string[] = []
  /** Programs that the image has not, and whose use was told. */
  readonly #usedExtraPrograms = new Set<string>()
  #version: string | null = null

  constructor(deps: TrialDeps, options: TrialOptions & { devboxId: string }, log: TrialLog) {
    this.#deps = deps
    this.#options = options
    this.#log = log
    this.#workbench = new Workbench({ ...deps, ...options })
    this.#reveal = (secrets) => {
      const values = deps.secrets.reveal(options.account, secrets)
      log.hide(Object.values(values))
      return values
    }
  }

  async run(task: Task): Promise<Rewards | null> {
    const { agent } = this.#options
    for (const warning of this.#options.warnings) this.#log.say(`WARNING ${warning}`)
    for (const warning of task.warnings) this.#log.warn(warning)
    if (task.unsupported) throw new SandboxBuildFailedError(task.unsupported, { differs: hasImage(task) })
    const built = await this.#phase('environment_setup', () =>
      this.#build(this.#workbench, this.#options.devboxId, task.environment),
    )
    const users = task.steps.flatMap(({ agentUser, verifierUser }) => [agentUser, verifierUser, built.user])
    if (built.givesRights && users.some((user) => user !== null)) this.#log.warn(noFurtherRights)
    await this.#phase('agent_setup', async () => {
      if (agent.name === 'oracle' && !task.steps.every((step) => solutionOf(task, step)))
        throw new TrialError('FileNotFoundError', 'The task has no solution/solve.sh for the oracle agent')
      await this.#prepareAgent(task, built.env)
    })
    const isMultiStep = task.steps.some(({ name }) => name !== null)
    const results: (Rewards | null)[] = []
    for (const step of task.steps) {
      const rewards = await this.#step(task, step, { ...built, isMultiStep })
      results.push(rewards)
      const goesOn = rewards !== null && reaches(rewards, step.minReward)
      if (!isMultiStep || goesOn || step === task.steps.at(-1)) continue
      this.#log.say(`Step ${step.name} ${rewards ? 'missed its min_reward' : 'has no reward'}; the others are left out`)
      break
    }
    return combine(results, isMultiStep ? task.rewardStrategy : 'final')
  }

  async #prepareAgent(task: Task, env: Record<string, string>): Promise<void> {
    const { definition, agent, account, scenarioRunId, signal } = this.#options
    if (!definition) return
    const given = environmentOf(agent.env, this.#reveal)
    this.#version = await prepareAgent(this.#workbench, definition, {
      installs: this.#deps.installs,
      account,
      scenarioRunId,
      env: { ...env, ...variablesOf(this.#workbench, definition, agent.kwargs), ...given },
      bound: task.environment.network === 'none' ? noNetwork : undefined,
      signal,
    })
    this.#log.say(`Agent ${definition.name} is defined by ${definition.origin}, version ${this.#version ?? 'unknown'}`)
  }

  /** What is known of the agent so far. */
  trace(): AgentRecord {
    return { version: this.#version, usage: sumOfUsages(this.#usages), trajectories: this.#trajectories }
  }

  /** Notes what the agent used and did in one step. */
  async #notice({ name }: TaskStep): Promise<void> {
    const { agent, definition } = this.#options
    if (agent.name === 'oracle' || agent.name === 'nop') {
      this.#usages.push(unknownUsage(`${agent.name} calls no model`))
      return
    }
    const { usage, hasTrajectory } = await traceOf(this.#workbench, definition, agentLogs)
    this.#usages.push(usage)
    if (hasTrajectory)
      this.#trajectories.push(posix.join(name === null ? '' : `steps/${name}`, 'agent', trajectoryFile))
  }

  async #build(workbench: Workbench, devboxId: string, environment: TaskEnvironment): Promise<Built> {
    const { account, settings, signal } = this.#options
    const { environments } = this.#deps
    const built = await buildEnvironment(workbench, environment, {
      account,
      environments,
      devboxFolder: this.#deps.folderOf(devboxId),
      settings,
      reveal: this.#reveal,
      warn: (warning) => this.#log.warn(warning),
      openStage: () => this.#openStage(environment),
      check: () => {
        environments.built(devboxId, false)
        this.#refuseDifferences()
      },
      signal,
    })
    await this.#warnOfExtraPrograms(workbench, 'start of the container', { ...built, network: environment.network })
    this.#refuseDifferences()
    return built
  }

  async #openStage(environment: TaskEnvironment): Promise<Stage> {
    const { account, scenarioRunId, scenario, settings, signal } = this.#options
    const owner = { account, scenarioRunId, name: `${scenario.name} build stage`, settings, signal }
    const devboxId = await openDevbox(this.#deps, owner, environment, { isStage: true })
    return {
      workbench: new Workbench({ ...this.#deps, ...this.#options, devboxId }),
      close: async () => void (await this.#deps.devboxes.shutdown(account, devboxId, { force: true })),
    }
  }

  #refuseDifferences() {
    const found = this.#log.warnings.filter(({ differs }) => differs)
    if (!this.#options.strictEnvironments || found.length === 0) return
    const sentences = found.map(({ sentence }) => sentence).join('; ')
    throw new TrialError('EnvironmentDiffersError', `The environment differs from that of the task: ${sentences}`)
  }

  async #step(
    task: Task,
    step: TaskStep,
    { isMultiStep, ...built }: Built & { isMultiStep: boolean },
  ): Promise<Rewards | null> {
    const { signal } = this.#options
    const { env, workdir, user } = built
    const workbench = this.#workbench
    const log = this.#log
    try {
      if (step.name !== null) {
        log.beginStep(step.name)
        // Not the one that verified the step before.
        workbench.user = await chosenUser(step.agentUser, user)
        if (existsSync(join(step.folder, 'workdir'))) await workbench.send(join(step.folder, 'workdir'), workdir)
        if (existsSync(join(step.folder, 'workdir', 'setup.sh'))) {
          const script = 'bash ./setup.sh >/logs/agent/setup.txt 2>&1'
          const { exitStatus } = await workbench.run(script, { env, cwd: workdir, signal })
          if (exitStatus !== 0) throw new Error(`setup.sh of step ${step.name} ended with ${exitStatus}`)
        }
        if (step.healthcheck) await waitUntilHealthy(workbench, step.healthcheck, { cwd: workdir, env, signal })
      }
      await this.#phase('agent_execution', () => this.#runAgent(task, step, built)).catch((error: unknown) => {
        if (signal.aborted || !judgedAllTheSame.includes((error as Error).name)) throw error
        log.fail(exceptionOf(error, signal), error)
      })
      const who = this.#options.agent.name === 'oracle' ? 'solution' : 'agent'
      await this.#warnOfExtraPrograms(this.#workbench, who, { ...built, network: task.environment.network })
      await this.#notice(step)
      const rewards = await this.#phase('verifier', () => this.#verify(task, step, built))
      log.reward(rewards)
      return rewards
    } catch (error) {
      if (!isMultiStep || signal.aborted) throw error
      log.fail(exceptionOf(error, signal), error)
      return null
    } finally {
      if (isMultiStep && !signal.aborted) await this.#saveStep(step)
    }
  }

  async #runAgent(task: Task, step: TaskStep, { env, workdir, user }: Built): Promise<void> {
    const { agent, definition, attempt, settings, signal } = this.#options
    const seconds =
      Math.min(
        agent.overrideTimeoutSeconds ?? step.agentTimeoutSeconds ?? Number.POSITIVE_INFINITY,
        agent.maxTimeoutSeconds ?? Number.POSITIVE_INFINITY,
      ) * (settings.agentTimeoutMultiplier ?? settings.timeoutMultiplier)
    const workbench = this.#workbench
    const instruction = [step.instruction, ...settings.extraInstructions].join('\n\n')
    await workbench.write(instructionFile, instruction)
    const isOracle = agent.name === 'oracle'
    if (isOracle) {
      await workbench.replace('/solution', solutionOf(task, step) ?? '')
      await workbench.must('chmod +x /solution/solve.sh')
    }
    workbench.user = await chosenUser(step.agentUser, user)
    const command = definition
      ? scriptOf(definition)
      : agent.command && `(\n${agent.command}\n) >/logs/agent/command.txt 2>&1`
    const script = isOracle ? runSolution : command
    if (!script) return
    const { exitStatus } = await runAgent(workbench, {
      script,
      instruction,
      instructionFile,
      modelName: agent.modelName,
      attempt,
      cwd: workdir,
      env: {
        ...env,
        ...(definition && variablesOf(workbench, definition, agent.kwargs)),
        HARBOR_AGENT_LOGS: agentLogs,
        ...environmentOf(agent.env, this.#reveal),
        ...(isOracle && { DEBIAN_FRONTEND: 'noninteractive', ...resolve(task.solutionEnv, this.#reveal) }),
      },
      seconds,
      signal,
    })
    if (exitStatus === 0) return
    this.#log.say(`The agent ended with ${exitStatus}`)
    await workbench.write('/logs/agent/exit-code.txt', String(exitStatus))
    // A solution that fails is no exception under Harbor's rules.
    if (!isOracle) throw agentFailure(exitStatus, await workbench.tail('/logs/agent/command.txt'))
  }

  async #verify(task: Task, step: TaskStep, built: Built): Promise<Rewards> {
    // The tests are copied only now.
    await requireUnchanged(this.#options.scenario)
    const { separateVerifier } = step
    if (!separateVerifier)
      return this.#judge(this.#workbench, task, step, { ...built, network: task.environment.network }, true)
    const { account, scenarioRunId, scenario, settings, signal } = this.#options
    const { environment, getsTests } = separateVerifier
    this.#workbench.user = built.user
    await this.#collect(separateVerifier, built)
    // What the agent wrote there are no logs of the verifier.
    await this.#workbench.replace('/logs/verifier')
    const owner = { account, scenarioRunId, name: `${scenario.name} verifier`, settings, signal }
    const devboxId = await openDevbox(this.#deps, owner, environment)
    const workbench = new Workbench({ ...this.#deps, ...this.#options, devboxId })
    try {
      this.#log.say(`The verifier runs in an environment of its own, devbox ${devboxId}`)
      const own = await this.#build(workbench, devboxId, environment)
      for (const { source, exclude } of separateVerifier.artifacts) await this.#handOver(workbench, source, exclude)
      return await this.#judge(workbench, task, step, { ...own, network: environment.network }, getsTests)
    } finally {
      const to = step.name === null ? 'verifier' : join('steps', step.name, 'verifier')
      await this.#end(workbench, devboxId, { of: 'verifier', to })
    }
  }

  async #collect({ collects }: SeparateVerifier, { env, workdir, user: ofImage }: Built): Promise<void> {
    for (const { command, timeoutSeconds, user: given } of collects) {
      const user = await chosenUser(given, ofImage)
      const late = new Error(`it took more than ${timeoutSeconds} seconds`)
      const limit = { seconds: timeoutSeconds, error: () => late }
      const told = await this.#workbench
        .run(command, { env, cwd: workdir, user, signal: this.#options.signal, limit })
        .catch((error: unknown) => {
          if (error !== late) throw error
          return late
        })
      const failure =
        told instanceof Error ? told.message : told.exitStatus !== 0 && `${told.exitStatus} ${shown(told)}`
      if (failure) this.#log.say(`verifier.collect ${command} failed: ${failure}`)
    }
  }

  /** An artifact that the agent has not made is for the verifier to miss. */
  async #handOver(to: Workbench, source: string, exclude: readonly string[]): Promise<void> {
    const { signal } = this.#options
    const path = posix.resolve('/', source)
    const { exitStatus } = await this.#workbench.run('[[ -e $FILE || -L $FILE ]]', { env: { FILE: path }, cwd: '/' })
    if (exitStatus !== 0 || path === '/') this.#log.say(`Artifact ${source} is not there`)
    else
      await this.#workbench.handOver(to, path, exclude, signal).catch((error: unknown) => {
        signal.throwIfAborted()
        const sentence = `Artifact ${source} could not be copied to the verifier: ${(error as Error).message}`
        this.#log.warn({ sentence, differs: true })
      })
  }

  async #judge(
    workbench: Workbench,
    task: Task,
    step: TaskStep,
    { env, workdir, user, hasTests, isNoting, network }: Built & Pick<TaskEnvironment, 'network'>,
    getsTests: boolean,
  ): Promise<Rewards> {
    const { settings } = this.#options
    const { overrideTimeoutSeconds, maxTimeoutSeconds: most } = settings.verifier
    const seconds =
      Math.min(overrideTimeoutSeconds ?? step.verifierTimeoutSeconds, most ?? Number.POSITIVE_INFINITY) *
      (settings.verifierTimeoutMultiplier ?? settings.timeoutMultiplier)
    const message = `Verifier execution timed out after ${pythonSeconds(seconds)} seconds`
    const error = new TrialError('VerifierTimeoutError', message)
    return workbench.within(seconds, error, async (limit) => {
      // Removes whatever the agent left there.
      await workbench.replace('/logs/verifier')
      if (getsTests) {
        const folders = [join(task.path, 'tests'), ...(step.name === null ? [] : [join(step.folder, 'tests')])]
        const sources = folders.filter((folder) => existsSync(folder))
        // As in Harbor, what an image has there stays, unless each step has tests of its own.
        if (hasTests && step.name === null) for (const folder of sources) await workbench.send(folder, '/tests')
        else await workbench.replace('/tests', ...sources)
      }
      await workbench.must('chmod 777 /logs/verifier && chmod +x /tests/test.sh')
      workbench.user = await chosenUser(step.verifierUser, user)
      const script = '(/tests/test.sh) >/logs/verifier/test-stdout.txt 2>&1'
      const verifierEnv = {
        ...resolve(step.verifierEnv, this.#reveal),
        ...environmentOf(settings.verifier.env, this.#reveal),
      }
      const verified = { cwd: workdir, env: { ...env, ...verifierEnv }, signal: limit }
      const { exitStatus } = await workbench.run(script, verified)
      this.#log.say(`The verifier ended with ${exitStatus}`)
      const rewards = await readRewards('/logs/verifier', (path) => workbench.read(path)).catch((error: Error) => error)
      const isFull = !(rewards instanceof Error) && Object.values(rewards).every((reward) => reward >= 1)
      if (!isFull) {
        await this.#tellLack(workbench, 'verifier', '/logs/verifier/test-stdout.txt', network)
        if (this.#options.agent.name === 'oracle')
          await this.#tellLack(this.#workbench, 'solution', '/logs/agent/oracle.txt', task.environment.network)
      }
      await this.#warnOfExtraPrograms(workbench, 'verifier', { isNoting, network })
      this.#refuseDifferences()
      if (rewards instanceof Error) throw rewards
      return rewards
    })
  }

  /** What its author wrote, and knows to work where the task is at home, has failed for want of something. */
  async #tellLack(workbench: Workbench, who: string, file: string, network: TaskEnvironment['network']): Promise<void> {
    const lack = lackIn((await workbench.readEnd(file, maxOutputBytes)) ?? '', network === 'host')
    if (lack) this.#log.warn({ sentence: `The ${who} could not get what it needs: ${lack}`, differs: true })
  }

  /** What this machine has and the image has not would have failed where the image is real. */
  async #warnOfExtraPrograms(
    workbench: Workbench,
    who: string,
    { isNoting, network }: Pick<Built, 'isNoting'> & Pick<TaskEnvironment, 'network'>,
  ): Promise<void> {
    if (!isNoting) return
    const used = (await usedExtraPrograms(workbench, { canInstall: network === 'host' })).filter(
      (name) => !this.#usedExtraPrograms.has(name),
    )
    if (used.length === 0) return
    for (const name of used) this.#usedExtraPrograms.add(name)
    const sentence = `The ${who} used what this machine has and the image has not: ${used.join(', ')}`
    this.#log.warn({ sentence, differs: true })
  }

  async #phase<T>(phase: TrialPhase, work: () => Promise<T>): Promise<T> {
    this.#options.signal.throwIfAborted()
    const done = this.#log.begin(phase)
    try {
      return await work()
    } finally {
      done()
    }
  }

  async #saveStep({ name }: TaskStep) {
    await this.#log.save(this.#logsFolder(this.#options.devboxId), join('steps', name ?? ''))
    await this.#workbench.must(`rm -rf -- /logs/* && ${makeLogFolders}`)
  }

  /** Saves the logs and ends the devbox. */
  end(): Promise<void> {
    return this.#end(this.#workbench, this.#options.devboxId, { of: '', to: '' })
  }

  async #end(workbench: Workbench, devboxId: string, { of, to }: { of: string; to: string }): Promise<void> {
    const { account, signal } = this.#options
    this.#deps.environments.built(devboxId, signal.aborted)
    try {
      // The command of a cancelled trial would go on writing logs.
      await workbench.stop()
      const within = signal.aborted ? AbortSignal.timeout(cancelledSaveMs) : undefined
      await this.#log.save(join(this.#logsFolder(devboxId), of), to, within)
    } finally {
      await this.#deps.devboxes.shutdown(account, devboxId, { force: true })
    }
  }

  #logsFolder(devboxId: string) {
    return join(this.#deps.folderOf(devboxId), 'root', 'logs')
  }
}

/** Unspecified: agents that call a model at tasks without a network. They fail as they would where Docker ran the task. */
const noNetwork = { saidBy: 'the task (network_mode, allow_internet)', allows: () => false }

const noFurtherRights: Warning = {
  sentence:
    'The image has programs that run with the rights of their owner (chmod u+s); here they run with those of their caller',
  differs: true,
}

/** Who a phase runs as; null for root, and where devboxes have one user. */
const chosenUser = async (ofPhase: string | null, ofImage: string | null): Promise<string | null> =>
  (await machine()).hasUsers ? (ofPhase ?? ofImage) : null

const maxOutputBytes = 1024 * 1024
/** Without one no Docker runs the task either. */
const hasImage = ({ environment: { hasDockerfile, image } }: Task) => hasDockerfile || image !== ''

const agentLogs = '/logs/agent'
/** Where an agent finds its instruction. */
const instructionFile = `${agentLogs}/instruction.md`
const runSolution = '(/solution/solve.sh) >/logs/agent/oracle.txt 2>&1'
/** The caller that cancels waits for this. */
const cancelledSaveMs = 2000
