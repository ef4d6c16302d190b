import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type LaunchParameters, resourcesOf } from '#lib/contract/launch-parameters.ts'
import { imageWarnings, makeLikeImage, plainImage } from '#lib/service/benchmarks/harbor/build/base-image.ts'
import { SandboxBuildFailedError } from '#lib/service/benchmarks/harbor/build/dockerfile.ts'
import { type BuildPlan, type BuildStep, defaultPath, planBuild } from '#lib/service/benchmarks/harbor/build/plan.ts'
import { buildSandbox, skippedInstalls } from '#lib/service/benchmarks/harbor/build/sandbox-build.ts'
import type { BlueprintOrigin, BoxEngine, Layer, Network, System } from '#lib/service/engine/box.ts'
import { machine, makeSystemBase } from '#lib/service/engine/bubblewrap/system.ts'
import { measure } from '#lib/service/engine/local/disk-tools.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import type { CommandLog } from '#lib/service/store/logs/logs.ts'
import { BlueprintError } from './blueprint-error.ts'
import { BuildBox } from './build-box.ts'

export interface HostBuild {
  id: string
  dockerfile: string
  context: string
  baseId: string | null
  /** True if the base image stands for this host's system. */
  isPlain: boolean
  buildArgs: Record<string, string>
  env: Record<string, string>
  launchParameters: LaunchParameters
  network: Network
  log: (level: 'info' | 'warn', message: string) => void
  logStep: (text: string) => CommandLog
  signal: AbortSignal
}

interface Host {
  folder: string
  systemsFolder: string
  engine: BoxEngine
  serviceId: string
  dataDir: string
  privateNetwork: boolean
}

/** What a devbox of a blueprint starts from. */
export interface HostBlueprint {
  env: Record<string, string>
  origin: BlueprintOrigin
}

const builtFile = 'built.json'
interface Built {
  env: Record<string, string>
  /** Blueprints below, the first built first, each with a layer. */
  layers: string[]
}

/** Builds over this host's system. The home and /tmp, and the changes to the system, become the blueprint's disk. */
export const buildOnHost = async (build: HostBuild, host: Host): Promise<number> => {
  const { id, baseId, signal } = build
  const folder = join(host.folder, id)
  const here = await machine()
  // Devboxes run as `user`, which needs a system with users.
  const hasSystem = here.hasUsers
  const base = baseId === null ? undefined : await readBuilt(host.folder, baseId)
  const plan = planOf(build, hasSystem, base?.env ?? {})
  const layers = base?.layers ?? []
  const box = await BuildBox.start(
    build,
    { ...host, folder },
    {
      kind: 'blueprint',
      ...(baseId !== null && { disk: { folder: join(host.folder, baseId) } }),
      ...(hasSystem && { system: await systemFrom(layers, host) }),
    },
  )
  const watching = watchDisk(box, build, host)
  try {
    await prepare(box, plan, build, hasSystem)
    await runSteps(box, plan, build, hasSystem)
    if (hasSystem) await box.must(addUser)
  } catch (error) {
    throw box.cause() ?? error
  } finally {
    watching.stop()
    await box.stop()
  }
  signal.throwIfAborted()
  for (const name of ['run', join('system', 'work')]) await removeFolder(join(folder, name))
  const { sizeBytes } = await measured(folder, host)
  const built: Built = { env: ownVariables(plan.env), layers: [...layers, ...(hasSystem ? [id] : [])] }
  await writeFile(join(folder, `${builtFile}.part`), JSON.stringify(built))
  await rename(join(folder, `${builtFile}.part`), join(folder, builtFile))
  return sizeBytes
}

export const builtOnHost = async (id: string, host: Host): Promise<HostBlueprint> => {
  const { env, layers } = await readBuilt(host.folder, id)
  return {
    env,
    origin: {
      kind: 'blueprint',
      disk: { folder: join(host.folder, id) },
      ...(layers.length > 0 && { system: await systemFrom(layers, host) }),
    },
  }
}

const readBuilt = async (folder: string, id: string): Promise<Built> => {
  const text = await readFile(join(folder, id, builtFile), 'utf8').catch(() => {
    throw new BlueprintError(`The data of blueprint ${id} is missing from the data folder`)
  })
  return JSON.parse(text)
}

const systemFrom = async (ids: readonly string[], { folder, systemsFolder }: Host): Promise<Omit<System, 'own'>> => ({
  base: await makeSystemBase(systemsFolder),
  layers: await Promise.all(ids.map((id) => layerOf(join(folder, id, 'system')))),
  hasHome: true,
})

const layerOf = async (folder: string): Promise<Layer> => ({
  folder,
  firstUid: Number(await readFile(join(folder, 'first-uid'), 'utf8')),
})

const measured = (folder: string, { serviceId }: Host) =>
  measure(['home', 'tmp', join('system', 'upper')].map((name) => join(folder, name)).filter(existsSync), {
    isolation: 'bubblewrap',
    marks: { DEVDECK_SERVICE_ID: serviceId, DEVDECK_COPIES: 'blueprints' },
  })

/** The image of a Dockerfile, if this host's system can stand in for it. */
export const replaceableImage = async ({
  dockerfile,
  buildArgs: args,
}: Pick<HostBuild, 'dockerfile' | 'buildArgs'>): Promise<string | undefined> => {
  const here = await machine()
  if (!here.hasUsers) return undefined
  try {
    const { image } = planBuild(dockerfile, here, defaultPath, { args })
    return plainImage.test(image) ? image : undefined
  } catch {
    // Only an engine can build it.
    return undefined
  }
}

const startEngine = 'start a container engine to build this image'

const planOf = (
  { dockerfile, buildArgs, isPlain }: HostBuild,
  hasSystem: boolean,
  env: Record<string, string>,
): BuildPlan => {
  const plan = explained(() =>
    planBuild(dockerfile, { hasSystem, hasUsers: hasSystem }, defaultPath, { args: buildArgs, env }),
  )
  if (!isPlain && !plainImage.test(plan.image))
    throw new BlueprintError(`FROM ${plan.image}: this host doesn't have the image; ${startEngine}`)
  const [unsupported] = plan.warnings.filter(({ differs }) => differs)
  if (unsupported) throw new BlueprintError(`${unsupported.sentence.replace(': skipped: ', ': ')} here; ${startEngine}`)
  return plan
}

const explained = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw error instanceof SandboxBuildFailedError ? new BlueprintError(error.message) : error
  }
}

const prepare = async (
  box: BuildBox,
  { image, env }: BuildPlan,
  { isPlain, log, signal }: HostBuild,
  hasSystem: boolean,
): Promise<void> => {
  if (hasSystem) await box.must('chmod 1777 /tmp')
  if (isPlain) return
  const warnings = await imageWarnings(box, image, { env, signal })
  const different = warnings.find(({ differs }) => differs)
  if (different)
    throw new BlueprintError(`${different.sentence.replace('the task runs', 'this host runs')}; ${startEngine}`)
  for (const { sentence } of warnings) log('warn', sentence.replace('the task runs', 'built'))
  if (hasSystem) await makeLikeImage(box, image, { env, hasUsers: false, signal })
}

const runSteps = async (box: BuildBox, plan: BuildPlan, build: HostBuild, hasSystem: boolean): Promise<void> => {
  let done = 0
  try {
    await buildSandbox(box, plan, {
      context: build.context,
      machine: { hasSystem, hasUsers: hasSystem },
      signal: build.signal,
      warn: () => undefined,
      isPlain: !hasSystem,
      onStep: (step) => {
        const end = box.logTo(build.logStep(`Step ${++done}/${plan.steps.length}: ${textOf(step)}`))
        return async () => {
          end()
          const failed = hasSystem && step.kind === 'run' ? await skippedInstalls(box) : []
          const first = failed.find(({ differs, sentence }) => differs && sentence.includes(': skipped: '))
          if (first) throw new BlueprintError(first.sentence.replace(': skipped: ', ': failed: '))
        }
      },
    })
  } catch (error) {
    if (!(error instanceof SandboxBuildFailedError)) throw error
    const message = error.message.replace('in environment/', 'in the build context')
    throw new BlueprintError(hasSystem ? message : `${message}. Commands run as user here; ${startEngine}`)
  }
}

const textOf = (step: BuildStep): string => {
  if (step.kind === 'workdir') return `WORKDIR ${step.path}`
  return step.kind === 'run' ? `RUN ${step.text}` : `COPY ${[...step.sources, step.to].join(' ')}`
}

/** What the Dockerfile sets; devboxes have their own HOME and default PATH. */
const ownVariables = ({ HOME: _, PATH, ...env }: Record<string, string>) => ({
  ...env,
  ...(PATH !== undefined && PATH !== defaultPath && { PATH }),
})

/** Devboxes of the blueprint run as `user`. */
const addUser = `sed -i -E '/^(user:|[^:]*:[^:]*:1000:)/d' /etc/passwd /etc/group
echo 'user:x:1000:1000::/home/user:/bin/bash' >>/etc/passwd && echo 'user:x:1000:' >>/etc/group`

const measureMs = 5000

/** Ends a build that exceeds its disk. */
const watchDisk = (box: BuildBox, { id, launchParameters }: HostBuild, host: Host) => {
  const { diskGb } = resourcesOf(launchParameters)
  let isMeasuring = false
  const check = async () => {
    if (isMeasuring) return
    isMeasuring = true
    const { usedBytes } = await measured(join(host.folder, id), host)
    if (usedBytes > diskGb * 2 ** 30)
      box.abort(new BlueprintError(`The build used more than ${diskGb} GiB`, 'out_of_disk'))
    isMeasuring = false
  }
  const timer = setInterval(() => void check().catch(() => undefined), measureMs).unref()
  return { stop: () => clearInterval(timer) }
}
