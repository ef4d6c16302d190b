import { ServiceError } from '#lib/service/kit/errors.ts'
import type { Disks } from '../box.ts'
import { type EngineApi, EngineResponseError, ifMissing } from './engine-api.ts'

const maxCommitMs = 60 * 60 * 1000

interface Options extends Pick<Disks, 'remove'> {
  containerOf: (devboxId: string) => string
  snapshotImage: (snapshotId: string) => string
  removeImage: (image: string) => Promise<void>
}

/** Disks are the writable layers of containers; snapshots are images. */
export const createContainerDisks = (
  api: EngineApi,
  { containerOf, snapshotImage, removeImage, remove }: Options,
): Disks & { retryRemovals(): Promise<void> } => {
  const unremoved = new Set<string>()
  const hasSnapshot = async (snapshotId: string) =>
    (await api.json('GET', `/images/${snapshotImage(snapshotId)}/json`).catch(ifMissing)) !== undefined
  const removeSnapshot = async (snapshotId: string) => {
    // The engine may be unavailable, or still commit it for a killed service.
    unremoved.add(snapshotId)
    if (!(await hasSnapshot(snapshotId))) return
    await removeImage(snapshotImage(snapshotId))
    unremoved.delete(snapshotId)
  }
  return {
    async snapshot(devboxId, snapshotId, signal) {
      const [repo, tag] = snapshotImage(snapshotId).split(':')
      const query = { container: containerOf(devboxId), repo, tag, pause: true }
      const body = { Labels: { 'devdeck.snapshot': snapshotId } }
      await api.json('POST', '/commit', { query, body, signal, timeoutMs: maxCommitMs }).catch((error: unknown) => {
        if (!(error instanceof EngineResponseError)) throw error
        const message = error.status === 404 ? 'The devbox has no disk' : `Could not copy the disk: ${error.message}`
        throw new ServiceError('internal', message, { shouldRetry: false, cause: error })
      })
      const [top] = await api.json<{ Size: number }[]>('GET', `/images/${snapshotImage(snapshotId)}/history`)
      return { sizeBytes: top?.Size ?? 0 }
    },
    hasSnapshot,
    removeSnapshot,
    async usedBytes(devboxId, signal) {
      const query = { size: true }
      const found = await api
        .json<{ SizeRw?: number }>('GET', `/containers/${containerOf(devboxId)}/json`, { query, signal })
        .catch(ifMissing)
      return found?.SizeRw ?? 0
    },
    remove,
    async retryRemovals() {
      for (const snapshotId of unremoved) await removeSnapshot(snapshotId)
    },
  }
}
