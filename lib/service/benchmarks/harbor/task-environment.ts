import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { StringMap } from '#lib/contract/common.ts'
import { plainImage } from './build/base-image.ts'
import type { Environment, Healthcheck, NetworkMode } from './task-toml.ts'

export interface TaskEnvironment {
  buildTimeoutSeconds: number
  workdir: string | null
  env: StringMap
  healthcheck: Healthcheck | null
  network: 'host' | 'none'
  cpus: number | null
  memoryMb: number | null
  storageMb: number | null
  hasDockerfile: boolean
  folder: string
  /** The image to run as is; empty if a Dockerfile is built. */
  image: string
  /** True if the files in `folder` are copied to the work directory, as Harbor does without a Dockerfile. */
  hasFiles: boolean
  /** An unavailable prebuilt image that the Dockerfile replaces. */
  imageReplaced: string | null
  /** Only read with a container engine. */
  hasCompose: boolean
}

export interface EnvironmentOptions {
  /** Builds the Dockerfile where Harbor would use a prebuilt image. */
  forceBuild: boolean
  /** Whether images can be run. */
  hasImages: boolean
}

export const composeFile = 'docker-compose.yaml'

const defaultBuildSeconds = 600

export const taskEnvironmentOf = (
  environment: Environment = {},
  { folder, network, forceBuild, hasImages }: Pick<TaskEnvironment, 'folder' | 'network'> & EnvironmentOptions,
): TaskEnvironment => {
  const image = environment.docker_image ?? ''
  // As in Harbor, an image takes precedence over a Dockerfile.
  const isBuildable = existsSync(join(folder, 'Dockerfile'))
  const isImageAvailable = image !== '' && (hasImages || plainImage.test(image))
  const hasDockerfile = isBuildable && (forceBuild || !isImageAvailable)
  return {
    buildTimeoutSeconds: environment.build_timeout_sec ?? defaultBuildSeconds,
    workdir: environment.workdir ?? null,
    env: environment.env ?? {},
    healthcheck: environment.healthcheck ?? null,
    network,
    cpus: environment.cpus ?? null,
    memoryMb: environment.memory_mb ?? megabytes(environment.memory),
    storageMb: environment.storage_mb ?? megabytes(environment.storage),
    hasDockerfile,
    folder,
    image: hasDockerfile ? '' : image,
    hasFiles: image !== '' && !isBuildable && existsSync(folder),
    imageReplaced: hasDockerfile && !forceBuild && image !== '' ? image : null,
    hasCompose: hasImages && existsSync(join(folder, composeFile)),
  }
}

export const networkModeOf = (environment: Environment | undefined): NetworkMode =>
  environment?.network_mode ?? (environment?.allow_internet === false ? 'no-network' : 'public')

/** Sizes before schema 1.1: `2G`, `512M`. */
const megabytes = (text: string | undefined): number | null => {
  const [, number, unit = 'M'] = /^(\d+(?:\.\d+)?)([KMGT])?i?B?$/i.exec(text ?? '') ?? []
  if (number === undefined) return null
  return Math.ceil(Number(number) * 1024 ** ('KMGT'.indexOf(unit.toUpperCase()) - 1))
}
