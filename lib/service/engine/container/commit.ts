import { randomUUID } from 'node:crypto'
import type { ImageInspectInfo } from 'dockerode'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { type EngineApi, EngineResponseError, ifMissing } from './engine-api.ts'
import { jsonLines } from './json-lines.ts'

// Docker allows 125, and every commit adds one.
const maxLayers = 100

const maxCommitMs = 60 * 60 * 1000
const namePrefix = (serviceId: string) => `devdeck-flatten-${serviceId.slice(0, 12)}-`

interface CommitOptions {
  /** Repository and tag of the image. */
  name: string
  labels: Readonly<Record<string, string>>
  serviceId: string
  signal: AbortSignal
  /** Flattens the layers even if the chain isn't too long yet. */
  flatten?: boolean
  /** Labels of a flattened image, by the bytes of what later layers had replaced. */
  flatLabels?: (replacedBytes: number) => Record<string, string>
}

/** Makes an image of a container's disk. Returns its ID and the size of what the container has written. */
export const commit = async (
  api: EngineApi,
  container: string,
  { name, labels, ...options }: CommitOptions,
): Promise<{ id: string; sizeBytes: number }> => {
  const { signal } = options
  const query = { container, ...splitName(name), pause: true }
  const { Id } = await api
    .json<{ Id: string }>('POST', '/commit', { query, body: { Labels: labels }, signal, timeoutMs: maxCommitMs })
    .catch((error: unknown) => {
      if (!(error instanceof EngineResponseError)) throw error
      const message = error.status === 404 ? 'The devbox has no disk' : `Could not copy the disk: ${error.message}`
      throw new ServiceError('internal', message, { shouldRetry: false, cause: error })
    })
  const [top] = await api.json<{ Size: number }[]>('GET', `/images/${Id}/history`)
  const image = await api.json<ImageInspectInfo>('GET', `/images/${Id}/json`)
  const isDeep = (image.RootFS.Layers?.length ?? 0) > maxLayers
  const id = isDeep || options.flatten ? await flatten(api, image, { name, ...options }) : Id
  return { id, sizeBytes: top?.Size ?? 0 }
}

/** Moves a tag to an image with the same files in one layer. */
const flatten = async (
  api: EngineApi,
  { Id, Config, Size }: ImageInspectInfo,
  { name, serviceId, signal, flatLabels }: Omit<CommitOptions, 'labels'>,
): Promise<string> => {
  const containers: string[] = []
  const create = async (image: string, config: object) => {
    // An empty service label hides it from those that look for devboxes, whose label it has from the image.
    const body = { ...config, Image: image, Labels: { 'devdeck.service': '' } }
    const query = { name: namePrefix(serviceId) + randomUUID() }
    const created = await api.json<{ Id: string }>('POST', '/containers/create', { query, body })
    containers.push(created.Id)
    return created.Id
  }
  try {
    const imported = await importFiles(api, await create(Id, {}), signal)
    // An import can't set all of the configuration, a commit can.
    const query = { container: await create(imported, Config), ...splitName(name) }
    const files = await api.json<ImageInspectInfo>('GET', `/images/${imported}/json`)
    const body = { ...Config, Labels: { ...Config.Labels, ...flatLabels?.(Size - files.Size) } }
    const request = { query, body, signal, timeoutMs: maxCommitMs }
    const flat = await api.json<{ Id: string }>('POST', '/commit', request)
    return flat.Id
  } finally {
    for (const id of containers) await removeContainer(api, id)
    await api.json('DELETE', `/images/${Id}`).catch((error: unknown) => {
      // 409: still tagged, after a failure.
      if (!(error instanceof EngineResponseError) || ![404, 409].includes(error.status)) throw error
    })
  }
}

const importFiles = async (api: EngineApi, container: string, signal: AbortSignal): Promise<string> => {
  const broken = new AbortController()
  const request = { signal: AbortSignal.any([signal, broken.signal]), timeoutMs: maxCommitMs }
  const files = await api.stream('GET', `/containers/${container}/export`, request)
  files.once('error', (error) => broken.abort(api.unavailable('closed the connection during an export', error)))
  const output = await api.stream('POST', '/images/create', { query: { fromSrc: '-' }, file: files, ...request })
  let id: string | undefined
  for await (const { status, error } of jsonLines<{ status?: string; error?: string }>(output)) {
    if (error !== undefined) throw new Error(error)
    if (status?.startsWith('sha256:')) id = status
  }
  if (id === undefined) throw new Error('The import of a disk did not produce an image')
  return id
}

/** Removes what a killed service left behind. */
export const removeUnfinishedCommits = async (api: EngineApi, serviceId: string): Promise<void> => {
  const query = { all: true, filters: { name: [namePrefix(serviceId)] } }
  const containers = await api.json<{ Id: string }[]>('GET', '/containers/json', { query })
  for (const { Id } of containers) await removeContainer(api, Id)
}

const removeContainer = (api: EngineApi, id: string) =>
  api.json('DELETE', `/containers/${id}`, { query: { force: true, v: true } }).catch(ifMissing)

/** A registry's port also has a colon. */
const splitName = (name: string) => {
  const cut = name.lastIndexOf(':')
  return { repo: name.slice(0, cut), tag: name.slice(cut + 1) }
}
