import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { deleteRefusal, type Snapshot, type SnapshotCreate } from '#lib/contract/snapshots.ts'
import { hasRecordFile, readSnapshotFile, writeSnapshotFile } from '#lib/service/devboxes/record-file.ts'
import type { Disks } from '#lib/service/engine/box.ts'
import type { EngineKind } from '#lib/service/engine/choose-engine.ts'
import { diskFull, isDiskFull, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import { callKey, Replays } from '#lib/service/kit/replays.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import { untilStored } from '#lib/service/kit/until-stored.ts'
import { type LostAndFound, namesIn } from '#lib/service/store/lost-and-found.ts'
import type { SnapshotRecord, SnapshotStore } from '#lib/service/store/snapshots.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'

// Unspecified: number of parallel copies. More would slow down each other and running commands.
const copiesAtOnce = 2

interface Options {
  store: SnapshotStore
  /** Holds a folder per snapshot with its record file. */
  folder: string
  engineOf: (devboxId: string) => EngineKind
  disksOf: (engine: EngineKind) => Disks
  quota: StorageQuota
  lostAndFound: LostAndFound
  /** Resolves once every change so far is on disk. */
  synced: () => Promise<void>
}

interface Taking {
  account: string
  devboxId: string
  abort: AbortController
  done: Promise<ServiceError | undefined>
}

export class Snapshots {
  readonly #options: Options
  readonly #taking = new Map<string, Taking>()
  readonly #slots = new Slots(copiesAtOnce)
  readonly #replays = new Replays<string>()
  readonly #closing = new AbortController()

  constructor(options: Options) {
    this.#options = options
  }

  /** Call after a restart, before devboxes start. */
  recover(): void {
    const { store, folder, lostAndFound } = this.#options
    const interrupted = store.withStatus('in_progress')
    for (const id of interrupted) {
      const copy = readSnapshotFile(join(folder, id))
      if (copy) store.complete(id, copy.size_bytes ?? 0)
      else store.fail(id, 'The service stopped while the snapshot was in progress')
    }
    const names = namesIn(folder)
    for (const name of names) if (!store.find(name)) lostAndFound.take('snapshots', name)
    void this.#cleanUp([...names, ...interrupted]).catch(logFailure('Could not delete leftovers of deleted snapshots'))
  }

  async #cleanUp(names: readonly string[]): Promise<void> {
    const { store, folder } = this.#options
    for (const name of names) {
      if (this.#closing.signal.aborted) return
      const snapshot = store.find(name)
      if (snapshot && snapshot.status !== 'complete') await this.#remove(snapshot)
      else if (snapshot && !hasRecordFile(join(folder, name))) await this.writeRecord(name)
    }
  }

  async writeRecord(id: string): Promise<void> {
    const record = this.#options.store.mustFind(id)
    if (record.status !== 'complete') return
    await writeSnapshotFile(join(this.#options.folder, id), record).catch(
      logFailure(`Could not write the record file of snapshot ${id}`),
    )
  }

  async close(): Promise<void> {
    this.#closing.abort(failed('The service stopped while the snapshot was in progress'))
    await Promise.all([...this.#taking.values()].map(({ done }) => done))
  }

  /** Starts a snapshot. Repeating `requestId` returns the first snapshot, since public clients retry slow requests. */
  async begin(account: string, devboxId: string, body: SnapshotCreate, requestId: string): Promise<Snapshot> {
    const key = callKey(account, requestId, { devboxId, body })
    const isUsable = (id: string) =>
      ['in_progress', 'complete'].includes(this.#options.store.state(account, id)?.status ?? '')
    const id = await this.#replays.once(key, async () => this.#begin(account, devboxId, body), isUsable)
    return this.#snapshot(account, id)
  }

  #begin(account: string, devboxId: string, body: SnapshotCreate): string {
    this.#options.quota.require(account)
    const id = newId('snp')
    this.#options.store.insert({
      id,
      account,
      source_devbox_id: devboxId,
      engine: this.#options.engineOf(devboxId),
      create_time_ms: Date.now(),
      name: body.name || null,
      commit_message: body.commit_message || null,
      metadata: body.metadata ?? {},
    })
    const abort = new AbortController()
    const done = this.#take(account, id, devboxId, abort.signal).finally(() => this.#taking.delete(id))
    this.#taking.set(id, { account, devboxId, abort, done })
    return id
  }

  async completed(account: string, id: string): Promise<Snapshot> {
    const problem = await this.#taking.get(id)?.done
    if (problem) throw problem
    return this.#snapshot(account, id)
  }

  /** Throws 404, or 409 unless the snapshot is complete and unused by a starting devbox. Can be repeated. */
  async delete(account: string, id: string): Promise<void> {
    const { store, quota } = this.#options
    const state = store.state(account, id) ?? notFound('snapshot', id)
    if (state.status === 'deleted') return
    const reason = deleteRefusal(state.status)
    if (reason) throw new ServiceError('conflict', reason, { shouldRetry: false })
    if (store.isBeingStartedFrom(account, id))
      throw new ServiceError('conflict', 'A devbox is starting from the snapshot', { retryAfterSeconds: 1 })
    store.delete(id)
    quota.add(account, 'snapshots', -(state.snapshot.size_bytes ?? 0))
    await this.#options.synced()
    await this.#remove(store.mustFind(id)).catch(
      logFailure(`Could not delete the copy of snapshot ${id}; retrying at the next start`),
    )
  }

  requireComplete(account: string, id: string): void {
    const state = this.#options.store.state(account, id) ?? notFound('snapshot', id)
    if (state.status === 'deleted') notFound('snapshot', id)
    if (state.status === 'in_progress')
      throw new ServiceError('conflict', `Snapshot ${id} is still in progress`, {
        field: 'snapshot_id',
        retryAfterSeconds: 1,
      })
    if (state.status !== 'complete')
      throw new ServiceError('invalid_argument', `Snapshot ${id} failed`, { field: 'snapshot_id' })
  }

  blueprintOf(account: string, id: string): string | null {
    return this.#options.store.own(account, id)?.source_blueprint_id ?? null
  }

  /** Only for complete snapshots. */
  engineOf(id: string): EngineKind {
    return this.#options.store.mustFind(id).engine
  }

  /** The newest complete snapshot of a devbox. */
  latestOf(devboxId: string): string | undefined {
    return this.#options.store.latestOf(devboxId)
  }

  inProgress(): { account: string; id: string; devbox_id: string; name: string | null | undefined }[] {
    const nameOf = (id: string) => this.#options.store.mustFind(id).name
    return [...this.#taking].map(([id, { account, devboxId }]) => ({
      account,
      id,
      devbox_id: devboxId,
      name: nameOf(id),
    }))
  }

  isBeingTaken(devboxId: string): boolean {
    return this.#of(devboxId).length > 0
  }

  async settled(devboxId: string, { abort }: { abort: boolean }): Promise<void> {
    if (abort) this.abort(devboxId, 'The devbox was shut down')
    await Promise.all(this.#of(devboxId).map(({ done }) => done))
  }

  /** `why` is a clause. */
  abort(devboxId: string, why: string): void {
    const message = `${why} while the snapshot was in progress`
    for (const { abort } of this.#of(devboxId))
      abort.abort(new ServiceError('conflict', message, { shouldRetry: false }))
  }

  #of(devboxId: string): Taking[] {
    return [...this.#taking.values()].filter((taking) => taking.devboxId === devboxId)
  }

  #snapshot(account: string, id: string): Snapshot {
    return this.#options.store.state(account, id)?.snapshot ?? notFound('snapshot', id)
  }

  async #take(account: string, id: string, devboxId: string, given: AbortSignal): Promise<ServiceError | undefined> {
    const { store, folder, disksOf, quota } = this.#options
    const disks = disksOf(store.mustFind(id).engine)
    const signal = AbortSignal.any([given, this.#closing.signal])
    let counted = 0
    const count = (bytes: number) => {
      quota.add(account, 'snapshots', bytes - counted)
      counted = bytes
    }
    try {
      await this.#slots.run(signal, async () => {
        const usedBytes = await disks.usedBytes(devboxId, signal)
        quota.require(account, usedBytes)
        count(usedBytes)
        const { sizeBytes } = await disks.snapshot(devboxId, id, signal)
        await mkdir(join(folder, id), { recursive: true, mode: 0o700 })
        // Write the record file first: it marks the copy as complete, even for an older database.
        await writeSnapshotFile(join(folder, id), { ...store.mustFind(id), size_bytes: sizeBytes })
        store.complete(id, sizeBytes)
        count(sizeBytes)
      })
      return undefined
    } catch (error) {
      const problem = asServiceError(error)
      if (problem !== error) logFailure(`Snapshot ${id} failed`)(error)
      if (!this.#closing.signal.aborted)
        await this.#remove(store.mustFind(id)).catch(
          logFailure(`Could not delete the copy of snapshot ${id}; retrying at the next start`),
        )
      count(0)
      await untilStored(
        () => store.fail(id, problem.message),
        `Could not store the result of snapshot ${id}`,
        this.#closing.signal,
      )
      return problem
    }
  }

  async #remove({ id, engine }: Pick<SnapshotRecord, 'id' | 'engine'>): Promise<void> {
    const { disksOf, folder } = this.#options
    await disksOf(engine).removeSnapshot(id)
    await removeFolder(join(folder, id))
  }
}

const failed = (message: string) => new ServiceError('internal', message, { shouldRetry: false })

const asServiceError = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error
  return isDiskFull(error) ? diskFull(error) : failed('Could not copy the disk')
}
