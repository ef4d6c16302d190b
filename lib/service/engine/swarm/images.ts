import type { ImageInspectInfo } from 'dockerode'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { Images } from '../box.ts'
import { type EngineApi, EngineResponseError, ifMissing } from '../container/engine-api.ts'
import { createImages } from '../container/images.ts'
import type { SwarmNode } from './nodes.ts'

interface Options {
  manager: EngineApi
  nodes: () => readonly SwarmNode[]
  serviceId: string
}

/** An image as a service names it. */
export interface ImageReference {
  image: string
  /** The only node that has it. */
  nodeId?: string
  inspect: ImageInspectInfo
}

const maxCommitMs = 60 * 60 * 1000

export const createSwarmImages = ({ manager, nodes, serviceId }: Options) => {
  const local: Images = createImages(manager, serviceId)
  const onNode = (node: SwarmNode, name: string) =>
    node.api.json<ImageInspectInfo>('GET', `/images/${name}/json`).catch(() => undefined)
  const find = async (name: string): Promise<ImageReference | undefined> => {
    const found = await Promise.all(nodes().map(async (node) => ({ node, inspect: await onNode(node, name) })))
    const [first, ...others] = found.flatMap(({ node, inspect }) => (inspect ? { node, inspect } : []))
    if (!first) return undefined
    const { inspect } = first
    const isEverywhere = others.length + 1 === nodes().length
    const digest = inspect.RepoDigests?.[0]
    return { image: digest ?? inspect.Id, inspect, ...(!digest && !isEverywhere && { nodeId: first.node.id }) }
  }
  return {
    ...local,
    async reference(image: string, _signal: AbortSignal): Promise<ImageReference> {
      const found = await find(image)
      if (found) return found
      throw new ServiceError('invalid_argument', `Image ${image} is not available on any node`, { shouldRetry: false })
    },
    /** Returns the size of what the container has changed. */
    async commit(
      { api }: SwarmNode,
      containerId: string,
      name: string,
      labels: Record<string, string>,
      signal: AbortSignal,
    ): Promise<{ sizeBytes: number }> {
      const [repo, tag] = name.split(':')
      const query = { container: containerId, repo, tag, pause: true }
      await api
        .json('POST', '/commit', { query, body: { Labels: labels }, signal, timeoutMs: maxCommitMs })
        .catch((error: unknown) => {
          if (!(error instanceof EngineResponseError)) throw error
          const message = error.status === 404 ? 'The devbox has no disk' : `Could not copy the disk: ${error.message}`
          throw new ServiceError('internal', message, { shouldRetry: false, cause: error })
        })
      const [top] = await api.json<{ Size: number }[]>('GET', `/images/${name}/history`)
      return { sizeBytes: top?.Size ?? 0 }
    },
    saved: find,
    async removeSaved(name: string): Promise<void> {
      await Promise.all(nodes().map(({ api }) => api.json('DELETE', `/images/${name}`).catch(ifMissing)))
    },
  }
}
