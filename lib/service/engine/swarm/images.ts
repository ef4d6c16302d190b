import type { ImageInspectInfo } from 'dockerode'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import type { Images } from '../box.ts'
import { BuildError } from '../build-error.ts'
import { type EngineApi, ifMissing, type RegistryAuth } from '../container/engine-api.ts'
import { type ContainerImages, createImages, infoOf, removedRepository } from '../container/images.ts'
import { pushImage, untag } from './push-image.ts'
import type { Registry } from './registry.ts'
import { registryOf } from './registry-credentials.ts'

export interface ImageNode {
  id: string
  hostname: string
  api: EngineApi
}

interface Options {
  /** Nodes whose API responds, preferred ones first. */
  nodes: () => readonly ImageNode[]
  registry: Registry | undefined
  /** `devdeck-ID`: the first part of repositories. */
  prefix: string
  serviceId: string
  credentials: (host: string) => Promise<RegistryAuth | undefined>
}

/** An image as a service names it. */
export interface ImageReference {
  image: string
  /** The only node that can run it. */
  nodeId?: string
  inspect: Pick<ImageInspectInfo, 'Id' | 'Config'>
  /** Reference by which nodes pull it. */
  auth?: RegistryAuth
}

interface Found {
  /** Those that have the same image. */
  holders: readonly [ImageNode, ...ImageNode[]]
  inspect: ImageInspectInfo
}

const inspectTimeoutMs = 5000

export interface SwarmImages extends Images {
  /** Returns the image name for a service. Rejects with a ServiceError if no node has it and none can pull it. */
  reference(image: string, signal: AbortSignal): Promise<ImageReference>
}

/** The images of all nodes, and copies in the registry of those that one node built. */
export const createSwarmImages = ({ nodes, registry, prefix, serviceId, credentials }: Options): SwarmImages => {
  const repository = `${prefix}/image`
  const copies = registry && `${registry.address}/${repository}`
  const clients = new WeakMap<EngineApi, ContainerImages>()
  const pushed = new Map<string, Promise<string>>()

  const imagesOf = ({ api }: ImageNode): ContainerImages => {
    const known = clients.get(api) ?? createImages(api, serviceId, (image) => credentials(registryOf(image)))
    clients.set(api, known)
    return known
  }

  const inspect = ({ api }: ImageNode, image: string, signal?: AbortSignal) =>
    api
      .json<ImageInspectInfo>('GET', `/images/${image}/json`, { signal, timeoutMs: inspectTimeoutMs })
      .catch((error: unknown) => {
        signal?.throwIfAborted()
        if (error instanceof ServiceError) return undefined
        return ifMissing(error)
      })

  /** Nodes may have pulled or built different images under one name: the one that most have counts. */
  const find = async (image: string, signal?: AbortSignal): Promise<Found | undefined> => {
    const groups = new Map<string, { holders: ImageNode[]; inspect: ImageInspectInfo }>()
    const all = nodes()
    const found = await Promise.all(all.map((node) => inspect(node, image, signal)))
    for (const [i, node] of all.entries()) {
      const info = found[i]
      if (!info) continue
      const group = groups.get(info.Id) ?? { holders: [], inspect: info }
      group.holders.push(node)
      groups.set(info.Id, group)
      if (info.RepoDigests?.length) group.inspect = info
    }
    const [most] = [...groups.values()].sort((a, b) => b.holders.length - a.holders.length)
    const [first, ...others] = most?.holders ?? []
    return most && first && { holders: [first, ...others], inspect: most.inspect }
  }

  const required = async (image: string, signal?: AbortSignal): Promise<Found> => {
    const found = await find(image, signal)
    if (found) return found
    const [node] = nodes()
    if (!node) throw new ServiceError('unavailable', 'No node of the swarm can be reached', { retryAfterSeconds: 5 })
    return { holders: [node], inspect: await imagesOf(node).require(image, signal) }
  }

  /** Resolves to the digest reference of a copy in the registry. */
  const push = (registry: Registry, { holders: [node], inspect }: Found): Promise<string> => {
    const tag = inspect.Id.slice('sha256:'.length)
    const known = pushed.get(tag)
    if (known) return known
    const pushing = (async () => {
      await node.api.json('POST', `/images/${inspect.Id}/tag`, { query: { repo: copies, tag } })
      // Not aborted: others may wait for it.
      const digest = await pushImage(node.api, registry, { repository, tag }, new AbortController().signal)
      return `${copies}@${digest}`
    })()
    pushed.set(tag, pushing)
    pushing.catch(() => pushed.delete(tag))
    return pushing
  }

  const images: SwarmImages = {
    async reference(image, signal) {
      const found = await required(image, signal).catch((error: Error) => {
        signal.throwIfAborted()
        if (error instanceof ServiceError) throw error
        const message = `Image ${image} is not available on any node: ${error.message}`
        throw new ServiceError('invalid_argument', message, { shouldRetry: false, cause: error })
      })
      const { holders, inspect } = found
      // A node never pulls an image that it has by ID.
      if (holders.length === nodes().length) return { image: inspect.Id, inspect }
      const withAuth = async (reference: string) => {
        const auth = await credentials(registryOf(reference))
        return { image: reference, inspect, ...(auth && { auth }) }
      }
      if (image.includes('@')) return withAuth(image)
      const [digest] = inspect.RepoDigests?.filter((name) => copies === undefined || !name.startsWith(copies)) ?? []
      if (digest !== undefined) return withAuth(digest)
      const onNode = { image: inspect.Id, inspect, nodeId: holders[0].id }
      if (!registry) return onNode
      return push(registry, found).then(withAuth, (error: Error) => {
        logFailure(`Image ${image} can only be used on node ${holders[0].hostname}`)(error)
        return onNode
      })
    },

    async find(image, signal) {
      const found = await find(image, signal)
      return found && infoOf(found.inspect)
    },

    async inspect(image, signal) {
      const found = await find(image, signal)
      if (found) return infoOf(found.inspect)
      const [node] = nodes()
      return node && imagesOf(node).inspect(image, signal)
    },

    async build(options) {
      const node = await nodeFor(options.bases ?? [], options.signal)
      const built = await imagesOf(node).build(options)
      const inspect = await node.api.json<ImageInspectInfo>('GET', `/images/${options.tag}/json`)
      if (registry)
        await push(registry, { holders: [node], inspect }).catch((error: Error) => {
          options.signal.throwIfAborted()
          options.output(`${error.message}. Until it can be pushed, the image can only be used on ${node.hostname}`)
        })
      return built
    },

    async remove(image) {
      const found = await Promise.all(nodes().map(async (node) => ({ node, before: await inspect(node, image) })))
      for (const { node, before } of found) {
        if (!before) continue
        await imagesOf(node).remove(image)
        if (copies === undefined) continue
        const own = (name: string) => name !== image && !name.startsWith(copies) && !name.startsWith(removedRepository)
        const isShared = before.RepoTags.some(own)
        if (!isShared) await removeCopies(before.Id)
      }
    },
  }

  const removeCopies = async (id: string) => {
    const tag = id.slice('sha256:'.length)
    pushed.delete(tag)
    for (const node of nodes()) {
      const copy = await inspect(node, id)
      if (!copy) continue
      // Keeps it for containers, which can't be committed without their image.
      await node.api.json('POST', `/images/${id}/tag`, { query: { repo: removedRepository, tag } })
      const names = [...copy.RepoTags, ...(copy.RepoDigests ?? [])].filter((name) => name.startsWith(`${copies}`))
      await untag(node.api, [...names, `${removedRepository}:${tag}`])
    }
    const stored = await registry?.find(repository, tag)
    if (stored) await registry?.delete(repository, stored.digest)
  }

  /** The node that has most of the base images, with copies of the others. */
  const nodeFor = async (bases: readonly string[], signal: AbortSignal): Promise<ImageNode> => {
    const all = nodes()
    const found = (await Promise.all(bases.map(async (image) => ({ image, found: await find(image, signal) })))).filter(
      (base) => base.found,
    )
    const count = (node: ImageNode) => found.filter((base) => base.found?.holders.includes(node)).length
    const [node] = all.toSorted((a, b) => count(b) - count(a))
    if (!node) throw new BuildError('No node of the swarm can be reached')
    for (const base of found) {
      if (!registry || !base.found || base.found.holders.includes(node)) continue
      const { image: reference, nodeId } = await images.reference(base.image, signal)
      if (nodeId !== undefined) continue
      await imagesOf(node).require(reference, signal)
      const [, repo, tag = 'latest'] = /^(.+?)(?::([^/:]+))?$/.exec(base.image) ?? []
      if (!base.image.includes('@')) await node.api.json('POST', `/images/${reference}/tag`, { query: { repo, tag } })
    }
    return node
  }

  return images
}
