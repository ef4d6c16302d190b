import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { maxKeepAliveSeconds } from '#lib/contract/launch-parameters.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import { machine } from '#lib/service/engine/bubblewrap/system.ts'
import { machinePython } from '#lib/service/engine/python.ts'
import type { Environments } from '../environments.ts'
import { pythonSeconds, TrialError, type Warning } from '../outcome.ts'
import type { HarborSettings } from '../plan.ts'
import type { Workbench } from '../workbench.ts'
import { imageWarnings, makeLikeImage } from './build/base-image.ts'
import { areUsesNoted, type ExtraProgram, noteExtraPrograms, noting } from './build/extra-programs.ts'
import { type BuildPlan, defaultPath, givesRights, planBuild, rootFoldersOf } from './build/plan.ts'
import { buildSandbox, type Stage } from './build/sandbox-build.ts'
import { startContainer, waitUntilHealthy } from './container.ts'
import { checksumOf } from './datasets.ts'
import { customSize } from './resources.ts'
import type { TaskEnvironment } from './task-environment.ts'
import { environmentOf, type Reveal, resolve } from './templates.ts'

/** Where and with which variables commands run in an environment that has been built. */
export interface Built {
  workdir: string
  env: Record<string, string>
  /** Who runs commands that do not say it; null for root, or where the devbox has no other. */
  user: string | null
  /** Whether the image has a folder /tests with something in it, which the tests of the task come into. */
  hasTests: boolean
  /** Whether its programs are to run with the rights of their owner, which they do not here. */
  givesRights: boolean
  /** Whether uses of programs that the image has not are noted. */
  isNoting: boolean
}

/** Whoever the agent and the verifier run as may write there. */
export const makeLogFolders =
  'mkdir -p -- /logs/agent /logs/verifier /logs/artifacts && chmod 777 /logs /logs/agent /logs/verifier /logs/artifacts'

/** Tests of tasks are run by a Python with pytest, which often is not the system's. */
const searchPath = async (): Promise<string> => {
  const python = await machinePython()
  return python ? `${python.bin}:${defaultPath}` : defaultPath
}

const findTests = '[ -n "$(ls -A /tests 2>/dev/null)" ] && echo tests'

/** The build a Dockerfile asks for; undefined without one. Throws a SandboxBuildFailedError. */
const planOf = async ({ folder, hasDockerfile }: TaskEnvironment): Promise<BuildPlan | undefined> => {
  if (!hasDockerfile) return undefined
  const text = await readFile(join(folder, 'Dockerfile'), 'utf8')
  return planBuild(text, await machine(), await searchPath())
}

interface Owner {
  account: string
  scenarioRunId: string
  name: string
  settings: HarborSettings
  signal: AbortSignal
}

/**
 * A devbox for an environment, with nothing built in it yet: its id. A task that cannot be read any more has no
 * environment, and gets a devbox as well: its trial fails and leaves logs like any other. Waits while another trial
 * builds the same, unless it is for a stage of a build, which is never kept.
 */
export const openDevbox = async (
  { devboxes, environments }: { devboxes: Devboxes; environments: Environments },
  { account, scenarioRunId, name, settings, signal }: Owner,
  environment: TaskEnvironment | undefined,
  { isStage = false } = {},
): Promise<string> => {
  const plan = environment && (await planOf(environment).catch(() => undefined))
  const key = plan && environment && !isStage ? await keyOf(account, environment).catch(() => undefined) : undefined
  const { overrideCpus, overrideMemoryMb, overrideStorageMb } = settings.environment
  return environments.open(key, signal, async (system) => {
    const { id } = await devboxes.create(
      account,
      {
        name,
        launch_parameters: {
          ...customSize({
            cpus: overrideCpus ?? environment?.cpus ?? null,
            memoryMb: overrideMemoryMb ?? environment?.memoryMb ?? null,
            storageMb: overrideStorageMb ?? environment?.storageMb ?? null,
          }),
          // The trial ends it; this bounds a devbox whose trial the service forgot.
          keep_alive_time_seconds: maxKeepAliveSeconds,
        },
      },
      {
        initiatorType: 'scenario',
        initiatorId: scenarioRunId,
        root: system ? ['logs'] : rootFoldersOf(plan, environment?.workdir ?? null),
        ...(system && { system }),
        ...(environment?.network === 'none' && { network: 'none' }),
      },
    )
    return id
  })
}

/**
 * Tells all that goes into a build beside the machine: a failed install may succeed next time, so such a build is not
 * kept. The account is part of it, as it may run commands of its own in the devbox that builds.
 */
const keyOf = async (account: string, { folder, workdir }: TaskEnvironment): Promise<string> =>
  JSON.stringify([buildVersion, account, await checksumOf(folder), workdir, await searchPath()])

/** To be raised when the same files are built otherwise than before. */
const buildVersion = 10

interface Building {
  account: string
  environments: Environments
  /** Of the devbox. */
  devboxFolder: string
  settings: HarborSettings
  reveal: Reveal
  warn: (warning: Warning) => void
  /** Makes another devbox like the one to build in. */
  openStage: () => Promise<Stage>
  /** Called when all is built, before any command of the task's own runs in it. */
  check: () => void
  signal: AbortSignal
}

export const buildEnvironment = async (
  workbench: Workbench,
  environment: TaskEnvironment,
  building: Building,
): Promise<Built> => {
  const { environments, devboxFolder, settings, reveal, warn, check, signal } = building
  const { buildTimeoutSeconds, healthcheck } = environment
  const seconds = buildTimeoutSeconds * (settings.buildTimeoutMultiplier ?? settings.timeoutMultiplier)
  const message = `Environment start timed out after ${pythonSeconds(seconds)} seconds`
  const plan = await planOf(environment)
  const { hasSystem } = await machine()
  const workdir = environment.workdir ?? plan?.workdir ?? '/'
  const user = plan?.user ?? null
  let hasTests = false
  let isNoting = false
  for (const warning of plan?.warnings ?? []) warn(warning)
  await workbench.within(seconds, new TrialError('EnvironmentStartTimeoutError', message), async (limit) => {
    await workbench.started(limit)
    await workbench.must(`${makeLogFolders} && mkdir -p -- /root`, {}, limit)
    // In a system of its own the folders at / are made as in an image; otherwise they are there from the start.
    if (!hasSystem) await makeWorkdir(workbench, workdir, limit)
    const known = plan && (await environments.warningsOf(devboxFolder))
    for (const warning of known ?? []) warn(warning)
    if (!known) await buildAnew(workbench, { environment, plan, workdir, limit }, building)
    check()
    // A container knows its own name.
    const tellName = hasSystem ? 'echo "127.0.1.1 $HOSTNAME" >>/etc/hosts; ' : ''
    const look = `${tellName}${findTests}; ${areUsesNoted} && echo noted`
    const { stdout } = await workbench.run(look, { cwd: '/', signal: limit })
    hasTests = plan !== undefined && stdout.includes('tests')
    isNoting = stdout.includes('noted')
    workbench.user = user
    await startContainer(workbench, plan, {
      cwd: plan?.workdir ?? workdir,
      env: noting({ HOME: '/root', ...plan?.env }, isNoting && plan !== undefined),
      signal: limit,
    })
  })
  const env = { ...plan?.env, ...resolve(environment.env, reveal) }
  const path = { PATH: await searchPath(), HOME: '/root' }
  if (healthcheck) await waitUntilHealthy(workbench, healthcheck, { cwd: workdir, env, signal })
  return {
    workdir,
    user,
    hasTests,
    givesRights: plan !== undefined && givesRights(plan),
    // The home directory of root in an image, which tasks mean by ~.
    env: noting({ ...path, ...env, ...environmentOf(settings.environment.env, reveal) }, isNoting),
    isNoting,
  }
}

const makeWorkdir = (workbench: Workbench, workdir: string, signal: AbortSignal) =>
  workbench.must('mkdir -p -- "$WORKDIR"', { WORKDIR: workdir }, signal)

interface Wanted {
  environment: TaskEnvironment
  plan: BuildPlan | undefined
  workdir: string
  limit: AbortSignal
}

/** Builds what no trial before has left here, and keeps it for the next ones where nothing of it failed. */
const buildAnew = async (
  workbench: Workbench,
  { environment, plan, workdir, limit }: Wanted,
  { account, environments, devboxFolder, warn, openStage }: Building,
): Promise<void> => {
  const { folder } = environment
  const here = await machine()
  const { hasSystem, hasUsers } = here
  const key = plan && hasSystem ? await keyOf(account, environment) : undefined
  const found: Warning[] = []
  let extras: ExtraProgram[] = []
  const installs: string[] = []
  const lookAtImage = async (at: Workbench, image: string, env: Record<string, string>) => {
    if (hasSystem) await makeLikeImage(at, image, { env, hasUsers, signal: limit })
    const seen = await imageWarnings(at, image, { env, signal: limit })
    if (at === workbench) extras = seen.extras
    for (const warning of seen.warnings) {
      if (found.some(({ sentence }) => sentence === warning.sentence)) continue
      found.push(warning)
      warn(warning)
    }
  }
  const ofImage = plan?.env ?? { PATH: await searchPath() }
  await lookAtImage(workbench, plan?.image ?? environment.image, ofImage)
  const ofBuild: Warning[] = []
  const note = (warning: Warning) => {
    ofBuild.push(warning)
    warn(warning)
  }
  const openAndLook = async ({ image, env }: BuildPlan) => {
    const stage = await openStage()
    try {
      await stage.workbench.started(limit)
      await stage.workbench.must('mkdir -p -- /root', {}, limit)
      await lookAtImage(stage.workbench, image, env)
      return stage
    } catch (error) {
      await stage.close()
      throw error
    }
  }
  const installed = (call: string) => void installs.push(call)
  const how = { context: folder, machine: here, signal: limit, warn: note, installed, openStage: openAndLook }
  if (plan) await buildSandbox(workbench, plan, how)
  if (hasSystem) {
    await noteExtraPrograms(workbench, extras, { installs, path: ofImage.PATH ?? defaultPath, signal: limit })
    await makeWorkdir(workbench, workdir, limit)
  }
  if (environment.hasFiles) await workbench.send(folder, workdir, { signal: limit })
  const isWhole = ofBuild.every(({ differs }) => !differs)
  if (key !== undefined && isWhole && key === (await keyOf(account, environment)))
    await environments.keep(key, devboxFolder, {
      builtFor: dirname(folder),
      warnings: [...found, ...ofBuild],
      signal: limit,
    })
}
