import type { Disks } from '../box.ts'
import { commit } from './commit.ts'
import { type EngineApi, ifMissing } from './engine-api.ts'

interface Options extends Pick<Disks, 'remove'> {
  serviceId: string
  containerOf: (devboxId: string) => string
  snapshotImage: (snapshotId: string) => string
  removeImage: (image: string) => Promise<void>
}

/** Disks are the writable layers of containers; snapshots are images. */
export const createContainerDisks = (
  api: EngineApi,
  { serviceId, containerOf, snapshotImage, removeImage, remove }: Options,
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
      const labels = { 'devdeck.snapshot': snapshotId }
      const name = snapshotImage(snapshotId)
      const { sizeBytes } = await commit(api, containerOf(devboxId), { name, labels, serviceId, signal })
      return { sizeBytes }
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
