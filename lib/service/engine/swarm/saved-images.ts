import type { ImageInspectInfo } from 'dockerode'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import { commit } from '../container/commit.ts'
import { ifMissing } from '../container/engine-api.ts'
import { createImages, removedRepository } from '../container/images.ts'
import type { ImageNode, ImageReference } from './images.ts'
import { pushImage, untag } from './push-image.ts'
import type { Registry } from './registry.ts'

interface Options {
  /** Nodes whose API responds. */
  nodes: () => readonly ImageNode[]
  /** Hostnames of the others. */
  unreachable: () => readonly string[]
  registry: Registry | undefined
  /** `devdeck-ID`: the first part of repositories. */
  prefix: string
  serviceId: string
}

export interface SavedImage extends ImageReference {
  createdMs: number
}

const savedLabel = 'devdeck.saved'
const inspectTimeoutMs = 5000
const usedLabel = 'devdeck.used-bytes'

// Another devbox may start from the same snapshot.
const keptMs = 60 * 60 * 1000

/** Disks and snapshots as images named `disk:ID` and `snapshot:ID`, in the registry or on the node that made them. */
export const createSavedImages = ({ nodes, unreachable, registry, prefix, serviceId }: Options) => {
  /** In the registry. */
  const known = new Map<string, SavedImage>()
  /** Hostnames of nodes with images that could not be pushed. */
  const kept = new Map<string, string>()
  const making = new Set<string>()
  const unremoved = new Set<string>()
  const usedAtMs = new Map<string, number>()
  const base = registry ? `${registry.address}/${prefix}` : prefix
  const partsOf = (name: string) => {
    const [kind = '', tag = ''] = name.split(':')
    return { repository: `${prefix}/${kind}`, tag, local: `${base}/${name}`, unpushed: `${prefix}/${name}` }
  }
  const inspect = ({ api }: ImageNode, image: string) =>
    api
      .json<ImageInspectInfo>('GET', `/images/${image}/json`, { timeoutMs: inspectTimeoutMs })
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError)) return ifMissing(error)
      })
  const namesOf = ({ RepoTags, RepoDigests }: Named) =>
    [...(RepoTags ?? []), ...(RepoDigests ?? [])].filter((name) => !name.startsWith('<none>'))

  const inRegistry = async (registry: Registry, name: string): Promise<SavedImage | undefined> => {
    const { repository, tag } = partsOf(name)
    const stored = await registry.find(repository, tag)
    const image = stored && (await registry.configOf(repository, stored.id))
    if (!image) return undefined
    const auth = await registry.credentials()
    return {
      image: `${registry.address}/${repository}@${stored.digest}`,
      inspect: { Id: stored.id, Config: image.config },
      createdMs: Date.parse(image.created),
      ...(auth && { auth }),
    }
  }

  /** Made without a registry, or while it was unavailable. */
  const onNode = async (name: string): Promise<SavedImage | undefined> => {
    const { local, unpushed } = partsOf(name)
    const all = nodes()
    const find = async (node: ImageNode) =>
      (await inspect(node, local)) ?? (registry && (await inspect(node, unpushed)))
    const found = await Promise.all(all.map(find))
    const i = found.findIndex((image) => image !== undefined)
    return all[i] && found[i] && pinned(all[i], found[i])
  }

  const find = async (name: string): Promise<SavedImage | undefined> => {
    const stored = known.get(name)
    if (stored) return stored
    // A disk that could not be pushed is newer than the one in the registry.
    const found = await onNode(name)
    if (found) return found
    const away = kept.get(name) ?? (registry ? undefined : unreachable()[0])
    if (away !== undefined) {
      const message = `The disk may be on node ${away}, which can't be reached`
      throw new ServiceError('unavailable', message, { retryAfterSeconds: 10 })
    }
    const saved = registry && (await inRegistry(registry, name))
    if (saved) known.set(name, saved)
    return saved
  }

  const forget = (name: string, digest: string | undefined) => {
    known.delete(name)
    kept.delete(name)
    usedAtMs.delete(`${registry?.address}/${partsOf(name).repository}@${digest}`)
  }

  const measure = async ({ api }: ImageNode, containerId: string, signal: AbortSignal) => {
    const query = { size: true }
    const found = await api
      .json<MeasuredContainer>('GET', `/containers/${containerId}/json`, { query, signal })
      .catch(ifMissing)
    const limitBytes = found?.HostConfig.Ulimits?.find(({ Name }) => Name === 'fsize')?.Hard
    return { usedBytes: (found?.SizeRw ?? 0) + bytesOf(found?.Config), limitBytes }
  }

  const push = async (
    registry: Registry,
    node: ImageNode,
    { name, signal }: Pick<Commit, 'name' | 'signal'>,
  ): Promise<void> => {
    const { repository, tag } = partsOf(name)
    const before = (await registry.find(repository, tag))?.digest
    const digest = await pushImage(node.api, registry, { repository, tag }, signal)
    forget(name, before)
    if (before !== undefined && before !== digest)
      await registry.delete(repository, before).catch(logFailure(`Could not remove the previous ${name}`))
  }

  const make = async (node: ImageNode, { containerId, name, signal }: Commit) => {
    const { usedBytes, limitBytes } = await measure(node, containerId, signal)
    const labels = { 'devdeck.service': serviceId, [savedLabel]: name, [usedLabel]: `${usedBytes}` }
    const made = await commit(node.api, containerId, {
      name: partsOf(name).local,
      labels,
      serviceId,
      signal,
      // Files that were replaced or deleted since an earlier suspension count until then.
      flatten: limitBytes !== undefined && usedBytes > limitBytes,
      flatLabels: (replacedBytes) => ({ [usedLabel]: `${Math.max(0, usedBytes - replacedBytes)}` }),
    })
    return { ...made, sizeBytes: usedBytes }
  }

  const copyOn = async (node: ImageNode, image: string, name: string, signal: AbortSignal) => {
    const { local, tag } = partsOf(name)
    await registry?.requireAvailable()
    making.add(name)
    try {
      await node.api.json('POST', `/images/${image}/tag`, { query: { repo: local.slice(0, -tag.length - 1), tag } })
      if (registry) await push(registry, node, { name, signal }).finally(() => untag(node.api, [local]))
    } finally {
      making.delete(name)
    }
  }

  const removeCopy = (node: ImageNode, id: string, name: string) =>
    inspect(node, id)
      .then((made) => made && untag(node.api, namesOf(made)))
      .catch(logFailure(`Could not remove the copy of ${name} from node ${node.hostname}`))

  const removeFrom = async ({ api, hostname }: ImageNode, names: readonly string[]): Promise<void> => {
    const images = createImages(api, serviceId)
    try {
      for (const name of names) await images.remove(name)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      logFailure(`Could not remove ${names[0]} from node ${hostname}`)(error)
    }
  }

  /** Nodes that can't be reached keep their copies until `tidy`. */
  const remove = async (name: string): Promise<void> => {
    const { repository, tag, local, unpushed } = partsOf(name)
    const isComplete = unreachable().length === 0
    unremoved.add(name)
    const digest = (await registry?.find(repository, tag))?.digest
    if (digest !== undefined) await registry?.delete(repository, digest)
    forget(name, digest)
    const copies = registry
      ? [local, ...(digest === undefined ? [] : [`${registry.address}/${repository}@${digest}`])]
      : []
    await Promise.all(nodes().map((node) => removeFrom(node, [unpushed, ...copies])))
    if (isComplete) unremoved.delete(name)
  }

  return {
    /** Makes an image of a container's disk. With a registry, the image is there when this resolves, and only there. */
    async commit(node: ImageNode, options: Commit): Promise<{ sizeBytes: number }> {
      if (!registry) return make(node, options)
      await registry.requireAvailable()
      making.add(options.name)
      try {
        const { id, sizeBytes } = await make(node, options)
        await push(registry, node, options).finally(() => removeCopy(node, id, options.name))
        return { sizeBytes }
      } finally {
        making.delete(options.name)
      }
    },

    /** Like `commit`, but keeps the image on the node while the registry is unavailable. */
    async commitOrKeep(node: ImageNode, options: Commit): Promise<SavedImage> {
      const { id } = await make(node, options)
      const image = pinned(node, await node.api.json<ImageInspectInfo>('GET', `/images/${id}/json`))
      if (!registry) return image
      try {
        await push(registry, node, options)
      } catch (error) {
        options.signal.throwIfAborted()
        logFailure(`${options.name} stays on node ${node.hostname}`)(error)
        known.delete(options.name)
        kept.set(options.name, node.hostname)
        return image
      }
      await removeCopy(node, id, options.name)
      return (await find(options.name)) ?? image
    },

    /** Pushes an image that was kept. */
    async pushKept(name: string, signal: AbortSignal): Promise<void> {
      const found = registry && (await onNode(name))
      const node = nodes().find(({ id }) => id === found?.nodeId)
      if (!found || !node) return
      await push(registry, node, { name, signal })
      await removeCopy(node, found.image, name)
    },

    /** Undefined if it doesn't exist; rejects with `unavailable` if it may. */
    async find(name: string): Promise<SavedImage | undefined> {
      const found = await find(name)
      if (found) usedAtMs.set(found.image, Date.now())
      return found
    },

    /** Copies an image under another name. */
    async copy(from: string, to: string, signal: AbortSignal): Promise<{ sizeBytes: number }> {
      const found = await find(from)
      if (!found) throw new ServiceError('internal', 'The devbox has no disk', { shouldRetry: false })
      const node = nodes().find(({ id }) => id === found.nodeId)
      if (node) await copyOn(node, found.image, to, signal)
      else await registry?.copy(partsOf(from), partsOf(to))
      return { sizeBytes: bytesOf(found.inspect.Config) }
    },

    remove,

    /** Rejects with `unavailable` if nodes can't pull the image. */
    async requireUsable({ nodeId }: SavedImage): Promise<void> {
      if (nodeId === undefined) await registry?.requireAvailable()
    },

    /** Bytes that the devbox has written, over all its containers. */
    usedBytes: async (node: ImageNode, containerId: string, signal: AbortSignal): Promise<number> =>
      (await measure(node, containerId, signal)).usedBytes,
    savedBytes: async (name: string): Promise<number> => bytesOf((await find(name))?.inspect.Config),

    /** Removes images that a node doesn't need anymore. Call when a container was removed. */
    async tidy({ api }: ImageNode): Promise<void> {
      const list = (filters: object) => api.json<Named[]>('GET', '/images/json', { query: { filters } })
      const removed = await list({ reference: [removedRepository] })
      for (const image of removed) await untag(api, namesOf(image))
      const isRecent = (copy: string) => Date.now() - (usedAtMs.get(copy) ?? 0) < keptMs
      const saved = await list({ label: [`devdeck.service=${serviceId}`, savedLabel] })
      for (const image of saved) {
        const names = namesOf(image)
        const pushed = registry ? names.filter((copy) => copy.includes('@') && copy.startsWith(`${base}/`)) : []
        if (names.length === 0) await untag(api, [image.Id])
        else if (!pushed.some(isRecent)) await untag(api, pushed)
        // Only failed snapshots: disks may be kept until the registry is available.
        const isFailed = (tag: string) => tag.startsWith(`${base}/snapshot:`) && !making.has(tag.slice(base.length + 1))
        if (registry) await untag(api, names.filter(isFailed))
      }
      // Reported when it failed.
      for (const name of unremoved) await remove(name).catch(() => undefined)
    },
  }
}

const pinned = (node: ImageNode, inspect: ImageInspectInfo): SavedImage => {
  return { image: inspect.Id, nodeId: node.id, inspect, createdMs: Date.parse(inspect.Created) }
}

interface Commit {
  containerId: string
  name: string
  signal: AbortSignal
}

interface Labeled {
  Labels?: Record<string, string> | null
}

interface MeasuredContainer {
  SizeRw?: number
  Config: Labeled
  HostConfig: { Ulimits?: { Name: string; Hard: number }[] | null }
}

const bytesOf = (config: Labeled | undefined) => Number(config?.Labels?.[usedLabel] ?? 0)

interface Named {
  Id: string
  RepoTags: string[] | null
  RepoDigests: string[] | null
}
