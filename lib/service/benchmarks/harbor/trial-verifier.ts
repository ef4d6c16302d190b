import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pythonSeconds, type Rewards, TrialError } from '../outcome.ts'
import { outputTail, type Workbench } from '../workbench.ts'
import { type BuiltEnvironment, buildEnvironment, openDevbox } from './environment.ts'
import { readRewards } from './rewards.ts'
import type { SeparateVerifier, Task, TaskStep } from './task.ts'
import { environmentOf, resolve } from './templates.ts'
import type { TrialContext, TrialDevbox } from './trial-context.ts'

interface VerifierRun {
  task: Task
  step: TaskStep
  workbench: Workbench
  built: BuiltEnvironment
  copiesTests: boolean
}

export const verify = async (
  context: TrialContext,
  agentDevbox: TrialDevbox,
  { task, step, built }: Pick<VerifierRun, 'task' | 'step' | 'built'>,
): Promise<Rewards> => {
  // The tests are copied only now.
  await context.requireUnchangedTask()
  const { workbench } = agentDevbox
  const { separateVerifier } = step
  if (!separateVerifier) {
    await workbench.setNetwork(step.verifierNetwork)
    return runVerifier(context, workbench, { task, step, workbench, built, copiesTests: true })
  }
  const { environment, getsTests, artifacts } = separateVerifier
  workbench.user = built.user
  await runCollectCommands(context, workbench, separateVerifier, built)
  // Logs that the agent wrote there are not the verifier's.
  await workbench.replace('/logs/verifier')
  const devbox = await openDevbox(context, environment, `${context.options.scenario.name} verifier`)
  context.options.onDevbox?.(devbox.id, true)
  try {
    context.log.say(`The verifier runs in its own environment, devbox ${devbox.id}`)
    const own = await buildEnvironment(context, devbox, environment)
    for (const { source, exclude } of artifacts)
      await copyArtifact(context, workbench, devbox.workbench, source, exclude)
    const run = { task, step, workbench: devbox.workbench, built: own, copiesTests: getsTests }
    return await runVerifier(context, workbench, run)
  } catch (error) {
    await context.checkNode(devbox.id)
    throw error
  } finally {
    const to = step.name === null ? 'verifier' : join('steps', step.name, 'verifier')
    await context.close(devbox, { from: 'verifier', to })
  }
}

const runCollectCommands = async (
  context: TrialContext,
  workbench: Workbench,
  { collects }: SeparateVerifier,
  { env, workdir, user: imageUser }: BuiltEnvironment,
): Promise<void> => {
  const { log, options } = context
  for (const { command, timeoutSeconds, user: phaseUser } of collects) {
    const user = await context.userOf(phaseUser, imageUser)
    const timeout = new Error(`timed out after ${timeoutSeconds} seconds`)
    const limit = { seconds: timeoutSeconds, error: () => timeout }
    const failure = await workbench.run(command, { env, cwd: workdir, user, signal: options.signal, limit }).then(
      (finished) => finished.exitStatus !== 0 && `${finished.exitStatus} ${outputTail(finished)}`,
      (error: unknown) => {
        if (error !== timeout) throw error
        return timeout.message
      },
    )
    if (failure) log.say(`verifier.collect ${command} failed: ${failure}`)
  }
}

/** A missing artifact is left to the verifier. */
const copyArtifact = async (
  { log, options: { signal } }: TrialContext,
  from: Workbench,
  to: Workbench,
  source: string,
  exclude: readonly string[],
): Promise<void> => {
  const path = posix.resolve('/', source)
  if (path === '/' || !(await from.exists(path))) {
    log.say(`Artifact ${source} does not exist`)
    return
  }
  await from.copyTo(to, path, exclude, signal).catch((error: unknown) => {
    signal.throwIfAborted()
    const sentence = `Artifact ${source} could not be copied to the verifier: ${(error as Error).message}`
    log.warn({ sentence, differs: true })
  })
}

const runVerifier = (
  context: TrialContext,
  agentWorkbench: Workbench,
  { task, step, workbench, built, copiesTests }: VerifierRun,
): Promise<Rewards> => {
  const { log, reveal, options } = context
  const { settings, agent } = options
  const { env, workdir, user, hasTests } = built
  const { overrideTimeoutSeconds, maxTimeoutSeconds } = settings.verifier
  const seconds =
    Math.min(overrideTimeoutSeconds ?? step.verifierTimeoutSeconds, maxTimeoutSeconds ?? Number.POSITIVE_INFINITY) *
    (settings.verifierTimeoutMultiplier ?? settings.timeoutMultiplier)
  const message = `Verifier execution timed out after ${pythonSeconds(seconds)} seconds`
  return workbench.within(seconds, new TrialError('VerifierTimeoutError', message), async (limit) => {
    await workbench.replace('/logs/verifier')
    if (copiesTests) {
      const folders = [join(task.path, 'tests'), ...(step.name === null ? [] : [join(step.folder, 'tests')])]
      const sources = folders.filter((folder) => existsSync(folder))
      // As in Harbor, the image's own files in /tests stay, unless each step has its tests.
      if (hasTests && step.name === null) for (const folder of sources) await workbench.send(folder, '/tests')
      else await workbench.replace('/tests', ...sources)
    }
    await workbench.must('chmod 777 /logs/verifier && chmod +x /tests/test.sh')
    workbench.user = await context.userOf(step.verifierUser, user)
    const { exitStatus } = await workbench.run('(/tests/test.sh) >/logs/verifier/test-stdout.txt 2>&1', {
      cwd: workdir,
      env: { ...env, ...resolve(step.verifierEnv, reveal), ...environmentOf(settings.verifier.env, reveal) },
      signal: limit,
    })
    log.say(`The verifier exited with ${exitStatus}`)
    const rewards = await readRewards('/logs/verifier', (path) => workbench.read(path)).catch((error: Error) => error)
    const isFullScore = !(rewards instanceof Error) && Object.values(rewards).every((reward) => reward >= 1)
    if (!isFullScore) {
      await warnOfMissingTool(context, workbench, 'verifier', '/logs/verifier/test-stdout.txt')
      if (agent.name === 'oracle')
        await warnOfMissingTool(context, agentWorkbench, 'solution', '/logs/agent/oracle.txt')
    }
    context.requireSameEnvironment()
    if (rewards instanceof Error) throw rewards
    return rewards
  })
}

/** The scripts of a task's author work in the real image, so a common tool they miss is the environment's fault. */
const warnOfMissingTool = async ({ log }: TrialContext, workbench: Workbench, script: string, file: string) => {
  const line = missingTool.exec((await workbench.readEnd(file, maxOutputBytes)) ?? '')?.[0]
  if (line) log.warn({ sentence: `The ${script} is missing a tool: ${line}`, differs: true })
}

const missingTool =
  /^.{0,200}(?:: (?:apt-get|curl|git|jq|node|npm|pip3?|pytest|python3?|tmux|uvx?|wget): (?:command )?not found|: No module named (?:pip|pytest))$/m
const maxOutputBytes = 1024 * 1024
