import type { Snapshot, SnapshotCreate, SnapshotState, SnapshotUpdate } from '#lib/contract/snapshots.ts'
import { ServiceError } from '#lib/service/errors.ts'

const notYet = () => new ServiceError('not_implemented', 'Snapshots are not implemented yet', { shouldRetry: false })

/** Copies of devboxes' disks, under `folder/<snapshot id>/home`. */
export class Snapshots {
  /** Throws 404 unless the snapshot is the account's and complete enough to start a devbox from. */
  requireComplete(_account: string, _id: string): void {
    throw notYet()
  }

  /** Copies the snapshot's disk to `home`, which must not exist. */
  async restore(_id: string, _home: string): Promise<void> {
    throw notYet()
  }

  /** Whether a snapshot of the devbox is being taken. */
  isBeingTaken(_devboxId: string): boolean {
    return false
  }

  /** Resolves when no snapshot of the devbox is being taken any more; `abort` gives up those that are. */
  async settled(_devboxId: string, _options: { abort: boolean }): Promise<void> {}
}

export type { Snapshot, SnapshotCreate, SnapshotState, SnapshotUpdate }
