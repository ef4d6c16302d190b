import { readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve as resolvePath } from 'node:path'
import type { ContainerRun } from '#lib/service/engine/box.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { TrialError } from '../../outcome.ts'
import { SandboxBuildFailedError } from '../build/dockerfile.ts'
import { type ComposeBuild, type ComposeService, composeVariables, readCompose } from '../compose/compose.ts'
import { composeFile, type TaskEnvironment } from '../task-environment.ts'
import { resolve } from '../templates.ts'
import type { TaskContainer, TrialContext } from '../trial-context.ts'
import type { TaskImages } from './task-images.ts'

/** As in Harbor: a Dockerfile's CMD is replaced, its ENTRYPOINT is not. */
const idle = ['sh', '-c', 'sleep infinity']

/** Builds or finds the images of an environment. */
export const prepareContainer = async (
  context: TrialContext,
  images: TaskImages,
  environment: TaskEnvironment,
  signal: AbortSignal,
): Promise<TaskContainer> => {
  const { options, reveal } = context
  const { folder, hasDockerfile, hasCompose, image } = environment
  const env = resolve(environment.env, reveal)
  const taskFolder = options.scenario.path
  const { main, services, internalNetworks } = hasCompose
    ? await composeOf(folder, taskFolder, composeVariables(environment, env))
    : { main: { dependsOn: [], build: null, image: null }, services: [], internalNetworks: [] }
  const { build, image: ownImage, dependsOn, ...overrides } = main
  const own = hasDockerfile || build ? { ...dockerfileIn(folder), ...build } : null
  const imageOf = imageFinder(context, images, basename(dirname(folder)), signal)
  try {
    const mainImage = await imageOf(own, ownImage ?? image)
    const names = { ...(ownImage && { [ownImage]: mainImage }), ...(await builtNames(services, imageOf)) }
    const all = await Promise.all(
      services.map(async ({ build, image, ...service }) => ({
        ...service,
        image: build || !image ? await imageOf(build, image) : (names[image] ?? (await imageOf(null, image))),
      })),
    )
    const info = await images.info(mainImage, signal)
    const limits: ContainerRun = {
      ...(environment.memoryMb !== null && { memoryBytes: environment.memoryMb * 2 ** 20 }),
      ...(environment.cpus !== null && { cpuCores: environment.cpus }),
    }
    const { overrideCpus, overrideMemoryMb } = options.settings.environment
    return {
      image: mainImage,
      run: {
        asImage: true,
        ...limits,
        ...(overrideMemoryMb !== null && { memoryBytes: overrideMemoryMb * 2 ** 20 }),
        ...(overrideCpus !== null && { cpuCores: overrideCpus }),
        command: idle,
        ...overrides,
        ...(all.length > 0 && { services: all, dependsOn, internalNetworks }),
      },
      workdir: environment.workdir ?? overrides.workdir ?? (info.workdir || '/'),
      user: overrides.user ?? (info.user || null),
      env: hasCompose ? {} : env,
    }
  } catch (error) {
    // A job waits for capacity, but not for an engine: that is a failure of the trial.
    if (error instanceof ServiceError && error.code === 'unavailable')
      throw new TrialError('SandboxBuildFailedError', error.message)
    throw error
  }
}

const dockerfileIn = (folder: string): ComposeBuild => ({
  context: folder,
  dockerfile: 'Dockerfile',
  inline: null,
  args: {},
  target: null,
})

const composeOf = async (folder: string, taskFolder: string, variables: Record<string, string>) => {
  const { compose, problems } = readCompose(await readFile(join(folder, composeFile), 'utf8'), {
    folder,
    taskFolder,
    variables,
  })
  if (problems) throw new SandboxBuildFailedError(`${composeFile}: ${problems.join('; ')}`)
  return compose
}

type FindImage = (build: ComposeBuild | null, image: string | null) => Promise<string>

const imageFinder =
  ({ options, log }: TrialContext, images: TaskImages, builtFor: string, signal: AbortSignal): FindImage =>
  async (build, image) => {
    if (!build) {
      if (!image) throw new SandboxBuildFailedError('The environment has neither a Dockerfile nor an image')
      return (await images.info(image, signal)) && image
    }
    const { forceBuild: force } = options.settings.environment
    const dockerfile = resolvePath(build.context, build.dockerfile)
    log.say(`Image of ${dockerfile.slice(options.scenario.path.length + 1)}`)
    return images.build(build, { builtFor, force, output: (line) => log.say(`build: ${line}`), signal })
  }

/** Images that one service builds and others run. */
const builtNames = async (services: readonly ComposeService[], imageOf: FindImage): Promise<Record<string, string>> => {
  const built = services.flatMap(({ build, image }) => (build && image ? [{ build, image }] : []))
  return Object.fromEntries(
    await Promise.all(built.map(async ({ build, image }) => [image, await imageOf(build, image)] as const)),
  )
}
