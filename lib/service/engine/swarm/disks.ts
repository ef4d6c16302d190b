import { ServiceError } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import type { Disks } from '../box.ts'
import { stopContainer } from '../container/container-box.ts'
import type { ImageNode } from './images.ts'
import type { createSavedImages, SavedImage } from './saved-images.ts'

interface Options {
  saved: ReturnType<typeof createSavedImages>
  hasRegistry: boolean
  /** The container of a devbox, running or not, if its node can be reached. */
  containerOf: (devboxId: string) => Promise<{ node: ImageNode; containerId: string } | undefined>
  hasService: (devboxId: string) => Promise<boolean>
  removeService: (devboxId: string) => Promise<void>
  /** Whether the devbox is starting or running. */
  isActive: (devboxId: string) => boolean
}

/** The disk that a devbox continues from after it has run. */
interface Continued {
  image: SavedImage | undefined
  /** What it has lost, for its log. */
  loss?: string
}

export interface SwarmDisks extends Disks {
  save: NonNullable<Disks['save']>
  /** Whether a new container can have the disk. Rejects with `unavailable` while the registry is unavailable. */
  isSaved(devboxId: string): Promise<boolean>
  ofSnapshot(snapshotId: string): Promise<SavedImage | undefined>
  /** Takes over the disk of a devbox that has run, and removes its old container. */
  continue(devboxId: string, lastSnapshotId: string | undefined, signal: AbortSignal): Promise<Continued>
  /** Ends what waits for the node. */
  lost(nodeId: string): void
}

const diskOf = (devboxId: string) => `disk:${devboxId}`
const snapshotOf = (snapshotId: string) => `snapshot:${snapshotId}`

/** Disks are the writable layers of containers. Between two nodes, they are images in the registry. */
export const createSwarmDisks = (options: Options): SwarmDisks => {
  const { saved, hasRegistry, containerOf, hasService, removeService, isActive } = options
  const queues = new Map<string, Promise<unknown>>()
  const losses = new Map<string, AbortController>()

  /** One action on the disk of a devbox at a time. */
  const exclusively = <T>(devboxId: string, action: () => Promise<T>): Promise<T> => {
    const result = (queues.get(devboxId) ?? Promise.resolve()).then(action)
    const settled = result
      .catch(() => undefined)
      .then(() => {
        if (queues.get(devboxId) === settled) queues.delete(devboxId)
      })
    queues.set(devboxId, settled)
    return result
  }

  const unlessLost = ({ id }: ImageNode, signal: AbortSignal): AbortSignal => {
    const loss = losses.get(id) ?? new AbortController()
    losses.set(id, loss)
    return AbortSignal.any([signal, loss.signal])
  }

  /** Error for a devbox whose container can't be reached. */
  const away = () => new ServiceError('unavailable', "The devbox's node can't be reached", { retryAfterSeconds: 10 })

  return {
    save: (devboxId, signal) =>
      exclusively(devboxId, async () => {
        if (isActive(devboxId)) return
        if (!hasRegistry)
          throw new ServiceError('not_implemented', 'the swarm has no registry (--engine-registry)', {
            shouldRetry: false,
          })
        const found = await containerOf(devboxId)
        if (!found && (await hasService(devboxId))) throw away()
        if (!found) return saved.pushKept(diskOf(devboxId), signal)
        const { node, containerId } = found
        await saved.commit(node, { containerId, name: diskOf(devboxId), signal: unlessLost(node, signal) })
        await removeService(devboxId)
      }),

    continue: (devboxId, lastSnapshotId, signal) =>
      exclusively(devboxId, async () => {
        const found = await containerOf(devboxId)
        const isLost = !found && (await hasService(devboxId))
        if (found) {
          const { node, containerId } = found
          await stopContainer(node.api, containerId)
          const image = await saved.commitOrKeep(node, {
            containerId,
            name: diskOf(devboxId),
            signal: unlessLost(node, signal),
          })
          await removeService(devboxId)
          return { image }
        }
        const disk = await saved.find(diskOf(devboxId)).catch((error: unknown) => {
          // What the container has written since is lost either way.
          if (!isLost) throw error
          return undefined
        })
        if (disk && !isLost) return { image: disk }
        const snapshot = lastSnapshotId === undefined ? undefined : await saved.find(snapshotOf(lastSnapshotId))
        const isSnapshotNewer = snapshot && (!disk || snapshot.createdMs > disk.createdMs)
        const image = isSnapshotNewer ? snapshot : disk
        if (!image) return { image }
        await removeService(devboxId)
        const from = isSnapshotNewer ? `snapshot ${lastSnapshotId}` : 'its last suspension'
        const at = new Date(image.createdMs).toISOString()
        return { image, loss: `The disk was lost. The devbox continues from ${from} (${at})` }
      }),

    snapshot: (devboxId, snapshotId, signal) =>
      exclusively(devboxId, async () => {
        const name = snapshotOf(snapshotId)
        const found = await containerOf(devboxId)
        if (!found && (await hasService(devboxId))) throw away()
        if (!found) return saved.copy(diskOf(devboxId), name, signal)
        const { node, containerId } = found
        return saved.commit(node, { containerId, name, signal: unlessLost(node, signal) })
      }),

    async isSaved(devboxId) {
      const disk = await saved.find(diskOf(devboxId))
      if (disk) await saved.requireUsable(disk)
      return disk !== undefined
    },
    ofSnapshot: (snapshotId) => saved.find(snapshotOf(snapshotId)),
    hasSnapshot: async (snapshotId) => (await saved.find(snapshotOf(snapshotId))) !== undefined,
    removeSnapshot: (snapshotId) => saved.remove(snapshotOf(snapshotId)),

    async usedBytes(devboxId, signal) {
      const found = await containerOf(devboxId)
      return found ? saved.usedBytes(found.node, found.containerId, signal) : saved.savedBytes(diskOf(devboxId))
    },

    async remove(devboxId) {
      await removeService(devboxId).catch(logFailure(`Could not remove the service of devbox ${devboxId}`))
      await saved.remove(diskOf(devboxId)).catch(logFailure(`Could not remove the disk of devbox ${devboxId}`))
    },

    lost(nodeId) {
      losses.get(nodeId)?.abort(away())
      losses.delete(nodeId)
    },
  }
}
