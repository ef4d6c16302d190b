import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { maxKeepAliveSeconds } from '#lib/contract/launch-parameters.ts'
import type { Origin } from '#lib/service/engine/box.ts'
import { machine } from '#lib/service/engine/bubblewrap/system.ts'
import { machinePython } from '#lib/service/engine/python.ts'
import { pythonSeconds, TrialError, type Warning } from '../outcome.ts'
import { outputTail, Workbench, within } from '../workbench.ts'
import { imageWarnings, makeLikeImage } from './build/base-image.ts'
import { type BuildPlan, defaultPath, hasSetuidFiles, planBuild, rootFoldersOf } from './build/plan.ts'
import { buildSandbox } from './build/sandbox-build.ts'
import { checksumOf } from './datasets.ts'
import { prepareContainer } from './images/container.ts'
import { sizeOf } from './resources.ts'
import type { TaskEnvironment } from './task-environment.ts'
import type { Healthcheck } from './task-toml.ts'
import { environmentOf, resolve } from './templates.ts'
import type { StartLimit, TaskContainer, TrialContext, TrialDevbox } from './trial-context.ts'

export interface BuiltEnvironment {
  workdir: string
  env: Record<string, string>
  /** The default user of commands; null for root, or where the devbox has a single user. */
  user: string | null
  /** True if the image has files in /tests, which the tests of the task are added to. */
  hasTests: boolean
  hasSetuidFiles: boolean
}

/** Writable for whichever user the agent and the verifier run as. */
export const makeLogFolders =
  'mkdir -p -- /logs/agent /logs/verifier /logs/artifacts && chmod 777 /logs /logs/agent /logs/verifier /logs/artifacts'

/** Tests need a Python with pytest, which often is not the system's. */
const searchPath = async (): Promise<string> => {
  const python = await machinePython()
  return python ? `${python}:${defaultPath}` : defaultPath
}

const planOf = async ({ folder, hasDockerfile }: TaskEnvironment): Promise<BuildPlan | undefined> => {
  if (!hasDockerfile) return undefined
  const text = await readFile(join(folder, 'Dockerfile'), 'utf8')
  return planBuild(text, await machine(), await searchPath())
}

/** Creates the devbox, before the build. Waits while another trial builds the same environment. */
export const openDevbox = async (
  context: TrialContext,
  environment: TaskEnvironment,
  name = context.options.scenario.name,
): Promise<TrialDevbox> => {
  const { deps, options } = context
  const { account, signal } = options
  const create = (origin: Origin) => createDevbox(context, environment, name, origin)
  if (deps.images) {
    const { images } = deps
    const limit = startLimitOf(context, environment)
    const startedMs = Date.now()
    const container = await within(limit.seconds, limit.error, signal, (until) =>
      prepareContainer(context, images, environment, until),
    )
    const devboxId = await create({ kind: 'image', image: container.image, run: container.run })
    const left = limit.seconds - (Date.now() - startedMs) / 1000
    return {
      id: devboxId,
      workbench: workbenchOf(context, devboxId),
      container,
      startLimit: { ...limit, seconds: left },
    }
  }
  const plan = await planOf(environment).catch(() => undefined)
  const key = plan && (await keyOf(account, environment).catch(() => undefined))
  const root = rootFoldersOf(plan, environment.workdir)
  const devboxId = await deps.environments.open(key, signal, (system) =>
    create(system ? { kind: 'system', system, root: ['logs'] } : { kind: 'root', root }),
  )
  return { id: devboxId, workbench: workbenchOf(context, devboxId), startLimit: startLimitOf(context, environment) }
}

const workbenchOf = ({ deps, options }: TrialContext, devboxId: string) =>
  new Workbench({ ...deps, ...options, devboxId, isTask: true })

const startLimitOf = (
  { options: { settings } }: TrialContext,
  { buildTimeoutSeconds }: TaskEnvironment,
): StartLimit => {
  const seconds = buildTimeoutSeconds * (settings.buildTimeoutMultiplier ?? settings.timeoutMultiplier)
  const message = `Environment start timed out after ${pythonSeconds(seconds)} seconds`
  return { seconds, error: new TrialError('EnvironmentStartTimeoutError', message) }
}

const createDevbox = async (
  { deps, options: { account, settings, scenarioRunId } }: TrialContext,
  environment: TaskEnvironment,
  name: string,
  origin: Origin,
): Promise<string> => {
  const { id } = await deps.devboxes.create(
    account,
    {
      name,
      launch_parameters: {
        ...sizeOf(environment, settings),
        // The trial shuts it down; this is for a devbox whose trial the service lost.
        keep_alive_time_seconds: maxKeepAliveSeconds,
      },
    },
    {
      initiatorType: 'scenario',
      initiatorId: scenarioRunId,
      origin,
      ...(environment.network === 'none' && { network: 'none' }),
    },
  )
  return id
}

/** Includes the account, which may run commands of its own in the devbox that builds. */
const keyOf = async (account: string, { folder, workdir }: TaskEnvironment): Promise<string> =>
  JSON.stringify([buildVersion, account, await checksumOf(folder), workdir, await searchPath()])

/** Raise it when the same files are built differently than before. */
const buildVersion = 12

export const buildEnvironment = async (
  context: TrialContext,
  devbox: TrialDevbox,
  environment: TaskEnvironment,
): Promise<BuiltEnvironment> => {
  const { deps, options, reveal, log } = context
  const { settings, signal } = options
  const { workbench, container, startLimit } = devbox
  if (container) return startContainer(context, devbox, environment, container)
  const { healthcheck } = environment
  const plan = await planOf(environment)
  const { hasSystem } = await machine()
  const workdir = environment.workdir ?? plan?.workdir ?? '/'
  let hasTests = false
  for (const warning of plan?.warnings ?? []) log.warn(warning)
  await workbench.within(startLimit.seconds, startLimit.error, async (limit) => {
    await workbench.started(limit)
    await workbench.must(`${makeLogFolders} && mkdir -p -- /root`, {}, limit)
    // A devbox with its own system gets its folders at / as an image does; otherwise they exist from the start.
    if (!hasSystem) await makeWorkdir(workbench, workdir, limit)
    const cached = plan && (await deps.environments.warningsOf(deps.folderOf(devbox.id)))
    for (const warning of cached ?? []) log.warn(warning)
    if (!cached) await build(context, devbox, environment, { plan, workdir, limit })
    deps.environments.buildEnded(devbox.id)
    context.requireSameEnvironment()
    // A container can resolve its own hostname.
    const setHost = hasSystem ? 'echo "127.0.1.1 $HOSTNAME" >>/etc/hosts; ' : ''
    const probe = `${setHost}[ -n "$(ls -A /tests 2>/dev/null)" ] && echo tests`
    hasTests = (await workbench.run(probe, { cwd: '/', signal: limit })).stdout !== ''
    workbench.user = plan?.user ?? null
  })
  const env = { ...plan?.env, ...resolve(environment.env, reveal) }
  if (healthcheck) await waitUntilHealthy(workbench, healthcheck, { cwd: workdir, env, signal })
  const defaults = { PATH: await searchPath(), HOME: '/root' }
  return {
    workdir,
    user: plan?.user ?? null,
    hasTests: plan !== undefined && hasTests,
    hasSetuidFiles: plan !== undefined && hasSetuidFiles(plan),
    env: { ...defaults, ...env, ...environmentOf(settings.environment.env, reveal) },
  }
}

const startContainer = async (
  { options: { settings, signal }, reveal, log }: TrialContext,
  { workbench, startLimit }: TrialDevbox,
  { folder, hasDockerfile, hasFiles, healthcheck }: TaskEnvironment,
  { workdir, user, env: taskEnv, run }: TaskContainer,
): Promise<BuiltEnvironment> => {
  const hasTests = await workbench.startWithin(startLimit.seconds, startLimit.error, async (limit) => {
    await workbench.started(limit)
    await workbench.must(makeLogFolders, {}, limit)
    if (hasFiles) await workbench.send(folder, workdir, { signal: limit })
    return workbench.exists('/tests')
  })
  workbench.user = user
  if (workbench.isInCluster && run.services)
    log.warn({ sentence: 'In a swarm, services have no internet access', differs: false })
  const env = { ...taskEnv, ...environmentOf(settings.environment.env, reveal) }
  if (healthcheck) await waitUntilHealthy(workbench, healthcheck, { cwd: workdir, env, signal })
  const dockerfile = hasDockerfile ? await readFile(join(folder, 'Dockerfile'), 'utf8') : ''
  return { workdir, user, hasTests, hasSetuidFiles: !workbench.isInCluster && usesSetuid.test(dockerfile), env }
}

/** Containers run with no-new-privileges, which a swarm can't set. */
const usesSetuid = /\bsudo\b|\bchmod\s+(?:-\S+\s+)*(?:0?[4-7]\d{3}|[ugoa]*\+[rwx]*s)\b/

const makeWorkdir = (workbench: Workbench, workdir: string, signal: AbortSignal) =>
  workbench.must('mkdir -p -- "$WORKDIR"', { WORKDIR: workdir }, signal)

/** Builds the environment, and caches it if nothing failed: a failed install may succeed next time. */
const build = async (
  { deps, options, log }: TrialContext,
  { id, workbench }: TrialDevbox,
  environment: TaskEnvironment,
  { plan, workdir, limit }: { plan: BuildPlan | undefined; workdir: string; limit: AbortSignal },
): Promise<void> => {
  const { folder } = environment
  const here = await machine()
  const { hasSystem, hasUsers } = here
  const key = plan && hasSystem ? await keyOf(options.account, environment) : undefined
  const image = plan?.image ?? environment.image
  const env = plan?.env ?? { PATH: await searchPath() }
  if (hasSystem) await makeLikeImage(workbench, image, { env, hasUsers, signal: limit })
  const warnings = await imageWarnings(workbench, image, { env, signal: limit })
  for (const warning of warnings) log.warn(warning)
  const buildWarnings: Warning[] = []
  if (plan)
    await buildSandbox(workbench, plan, {
      context: folder,
      machine: here,
      signal: limit,
      warn: (warning) => {
        buildWarnings.push(warning)
        log.warn(warning)
      },
    })
  if (hasSystem) await makeWorkdir(workbench, workdir, limit)
  if (environment.hasFiles) await workbench.send(folder, workdir, { signal: limit })
  const isComplete = buildWarnings.every(({ differs }) => !differs)
  if (key !== undefined && isComplete && key === (await keyOf(options.account, environment)))
    await deps.environments.store(key, deps.folderOf(id), {
      builtFor: dirname(folder),
      warnings: [...warnings, ...buildWarnings],
      signal: limit,
    })
}

export const waitUntilHealthy = async (
  workbench: Workbench,
  check: Healthcheck,
  { cwd, env, signal }: { cwd: string; env: Record<string, string>; signal: AbortSignal },
): Promise<void> => {
  const startedMs = Date.now()
  const timeout = new TrialError('HealthcheckError', `The healthcheck took more than ${check.timeout_sec} seconds`)
  const limit = { seconds: check.timeout_sec, error: () => timeout }
  for (let failures = 0; ; ) {
    const failure = await workbench.run(check.command, { env, cwd, signal, limit }).then(
      (finished) =>
        finished.exitStatus === 0
          ? undefined
          : [`exit code ${finished.exitStatus}`, outputTail(finished)].filter(Boolean).join(': '),
      (error: unknown) => {
        if (error !== timeout) throw error
        return timeout.message
      },
    )
    if (failure === undefined) return
    // Failures during the start period do not count.
    const isStarting = Date.now() - startedMs < check.start_period_sec * 1000
    if (!isStarting && ++failures >= check.retries)
      throw new TrialError('HealthcheckError', `The healthcheck failed ${failures} times: ${failure}`)
    await delay((isStarting ? check.start_interval_sec : check.interval_sec) * 1000, undefined, { signal })
  }
}
