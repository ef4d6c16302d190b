import type { ImageInspectInfo } from 'dockerode'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { ImageBuild, ImageInfo, Images } from '../box.ts'
import { BuildError } from '../build-error.ts'
import { BuildOutput } from './build-output.ts'
import { type EngineApi, EngineResponseError, ifMissing, type RegistryAuth } from './engine-api.ts'
import { environmentOf } from './image-facts.ts'
import { jsonLines } from './json-lines.ts'

export interface ContainerImages extends Images {
  /** Rejects with the reason if the engine doesn't have the image and can't pull it. */
  require(image: string, signal?: AbortSignal): Promise<ImageInspectInfo>
  /** Removes an image that `remove` kept because a container used it. */
  removeUnused(id: string): Promise<void>
}

const serviceLabel = 'devdeck.service'
// Repository name of removed images that containers still use.
export const removedRepository = 'devdeck-removed'

// The engine responds to a build once it has read the context.
const buildTimeoutMs = 60 * 60 * 1000
const pullTimeoutMs = 10 * 60 * 1000

export const createImages = (
  api: EngineApi,
  serviceId: string,
  credentials: (image: string) => Promise<RegistryAuth | undefined> = async () => undefined,
): ContainerImages => {
  const find = (image: string, signal?: AbortSignal) =>
    api.json<ImageInspectInfo>('GET', `/images/${image}/json`, { signal }).catch(ifMissing)

  const pull = async (image: string, signal?: AbortSignal): Promise<void> => {
    const tooLong = AbortSignal.timeout(pullTimeoutMs)
    const stop = signal ? AbortSignal.any([signal, tooLong]) : tooLong
    const query = { fromImage: image, ...(!/[:@][^/]*$/.test(image) && { tag: 'latest' }) }
    const request = { query, auth: await credentials(image), signal: stop, timeoutMs: pullTimeoutMs }
    const stream = await api.stream('POST', '/images/create', request)
    for await (const { error } of jsonLines<{ error?: string }>(stream)) if (error !== undefined) throw new Error(error)
  }

  const removeUnlessUsed = (image: string): Promise<boolean> =>
    api.json('DELETE', `/images/${image}`).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof EngineResponseError) || ![404, 409].includes(error.status)) throw error
        return error.status === 404
      },
    )

  const images: ContainerImages = {
    async require(image, signal) {
      const found = await find(image, signal)
      if (found) return found
      await pull(image, signal)
      const pulled = await find(image, signal)
      if (!pulled) throw new Error(`No such image: ${image}`)
      return pulled
    },

    async find(image, signal) {
      const found = await find(image, signal)
      return found && infoOf(found)
    },

    async inspect(image, signal) {
      const found = await images.require(image, signal).catch((error: Error) => {
        if (error instanceof EngineResponseError || error.name === 'Error') return undefined
        throw error
      })
      return found && infoOf(found)
    },

    async build({ context, dockerfile, tag, target, buildArgs = {}, labels = {}, output, signal }: ImageBuild) {
      const lines = new BuildOutput(output)
      try {
        const query = {
          t: tag,
          dockerfile,
          buildargs: { ...buildArgs },
          labels: { ...labels },
          rm: 1,
          forcerm: 1,
          ...(target !== undefined && { target }),
        }
        const builder = { version: (await hasBuildKit(api)) ? 2 : 1 }
        const request = { query: { ...query, ...builder }, file: context, signal, timeoutMs: buildTimeoutMs }
        const stream = await api.stream('POST', '/build', request)
        for await (const message of jsonLines<Parameters<BuildOutput['take']>[0]>(stream)) {
          const error = lines.take(message)
          if (error !== undefined) throw new BuildError(plainError(error), lines.instruction)
        }
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof EngineResponseError) throw new BuildError(plainError(error.message))
        if (error instanceof BuildError || error instanceof ServiceError) throw error
        throw api.unavailable('closed the connection during the build', error)
      } finally {
        lines.end()
      }
      const built = await find(tag)
      if (!built) throw new BuildError('The build did not produce an image')
      return { image: tag, sizeBytes: built.Size }
    },

    async remove(image) {
      const owner = (await find(image))?.Config.Labels?.[serviceLabel]
      if (owner !== undefined && owner !== serviceId) return
      if (await removeUnlessUsed(image)) return
      // A container can't be committed without its image.
      const { Id } = (await find(image)) ?? {}
      if (Id === undefined) return
      const query = { repo: removedRepository, tag: Id.slice('sha256:'.length) }
      await api.json('POST', `/images/${image}/tag`, { query })
      await api.json('DELETE', `/images/${image}`).catch(ifMissing)
    },

    async removeUnused(id) {
      await removeUnlessUsed(`${removedRepository}:${id.slice('sha256:'.length)}`)
    },
  }
  return images
}

export const infoOf = ({ Id, Config }: Pick<ImageInspectInfo, 'Id' | 'Config'>): ImageInfo => ({
  id: Id,
  user: Config.User,
  workdir: Config.WorkingDir || '/',
  env: environmentOf({ Config }),
  hasHealthcheck: ((Config as { Healthcheck?: { Test?: string[] } }).Healthcheck?.Test?.[0] ?? 'NONE') !== 'NONE',
})

// Docker's own API only; Podman builds with its own builder.
const hasBuildKit = async (api: EngineApi): Promise<boolean> => {
  const { Components = [], ApiVersion } = await api.json<{ Components?: { Name: string }[]; ApiVersion: string }>(
    'GET',
    '/version',
  )
  const [major = 0, minor = 0] = ApiVersion.split('.').map(Number)
  return Components.some(({ Name }) => Name === 'Engine') && (major > 1 || minor >= 40)
}

const plainError = (error: string) =>
  error
    .replace(/^((failed to solve( with frontend \S+)?|failed to build LLB|failed to create LLB definition): )+/, '')
    .trim()
