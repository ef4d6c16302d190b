import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deleteRefusal, type Snapshot, type SnapshotCreate } from '#lib/contract/snapshots.ts'
import type { Isolation } from '#lib/service/engine/engine.ts'
import { killProcesses } from '#lib/service/engine/process/plain-process.ts'
import { diskFull, isDiskFull, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import { callKey, Replays } from '#lib/service/kit/replays.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import { untilStored } from '#lib/service/kit/until-stored.ts'
import { type LostAndFound, namesIn } from '#lib/service/store/lost-and-found.ts'
import type { SnapshotStore } from '#lib/service/store/snapshots.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'
import { copyFolders, removeTree, sizeOf, usageOf } from './disk.ts'
import { diskFolders } from './mounts.ts'
import { hasRecordFile, readSnapshotFile, writeSnapshotFile } from './record-file.ts'

// Unspecified: how many are copied at once. More than two make each other slow, and the commands that run meanwhile.
const copiesAtOnce = 2

// Unspecified: the longest a copy may take. A devbox can hold it up on purpose, and others wait for its place.
const maxCopyMs = 60 * 60 * 1000

interface Options {
  store: SnapshotStore
  /** Where the copies are kept, each under the id of its snapshot. */
  folder: string
  /** A devbox's folder, which holds `home` and `tmp`. */
  folderOf: (devboxId: string) => string
  isolation: Isolation
  serviceId: string
  quota: StorageQuota
  lostAndFound: LostAndFound
}

/** A snapshot that waits for its copy or is being copied. */
interface Taking {
  devboxId: string
  abort: AbortController
  /** Resolves, once the end is recorded, with the error if there was one. */
  done: Promise<ServiceError | undefined>
}

/** Copies of devboxes' disks: takes them, starts devboxes from them and removes them. */
export class Snapshots {
  readonly #options: Options
  readonly #taking = new Map<string, Taking>()
  /** How many devboxes are getting their disk from a snapshot now. */
  readonly #restoring = new Map<string, number>()
  // Separate slots, so that a devbox starts however many snapshots wait.
  readonly #takeSlots = new Slots(copiesAtOnce)
  readonly #restoreSlots = new Slots(copiesAtOnce)
  readonly #replays = new Replays()
  readonly #closing = new AbortController()

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * After a restart: snapshots that were being taken have failed unless their copy is complete, and what is left of
   * failed and deleted ones is removed. To be called before devboxes start from snapshots; the removal continues after
   * it resolves.
   */
  async recover(): Promise<void> {
    const { store, folder, lostAndFound } = this.#options
    await killProcesses(this.#marks)
    for (const id of store.withStatus('in_progress')) {
      const copy = readSnapshotFile(join(folder, id))
      if (copy) store.complete(id, copy.size_bytes ?? 0)
      else store.fail(id, 'The service was stopped while the snapshot was being taken')
    }
    const names = namesIn(folder)
    for (const name of names) if (!isRestoring(name) && !store.find(name)) lostAndFound.take('snapshots', name)
    void this.#tidy(names).catch(logFailure('What is left of deleted snapshots could not be removed'))
  }

  async #tidy(names: readonly string[]): Promise<void> {
    const { store, folder } = this.#options
    for (const name of names) {
      if (this.#closing.signal.aborted) return
      const snapshot = store.find(name)
      if (isRestoring(name) || (snapshot && snapshot.status !== 'complete')) await removeTree(join(folder, name))
      else if (snapshot && !hasRecordFile(join(folder, name))) await this.writeRecord(name)
    }
  }

  /** To be called when the record changes. */
  async writeRecord(id: string): Promise<void> {
    const record = this.#options.store.mustFind(id)
    if (record.status !== 'complete') return
    await writeSnapshotFile(join(this.#options.folder, id), record).catch(
      logFailure(`The record beside snapshot ${id} could not be written`),
    )
  }

  /** Gives up what is being copied. What is left of it is removed at the next start. */
  async close(): Promise<void> {
    this.#closing.abort(failed('The service was stopped while the snapshot was being taken'))
    await Promise.all([...this.#taking.values()].map(({ done }) => done))
  }

  /**
   * Begins a snapshot of a devbox that is running or suspended. A call that repeats `requestId` gets the snapshot of
   * the first: that is how the public clients retry one that took longer than they wait.
   */
  async begin(account: string, devboxId: string, body: SnapshotCreate, requestId: string): Promise<Snapshot> {
    const key = callKey(account, requestId, { devboxId, body })
    const isGood = (id: string) =>
      ['in_progress', 'complete'].includes(this.#options.store.state(account, id)?.status ?? '')
    const id = await this.#replays.once(key, async () => this.#begin(account, devboxId, body), isGood)
    return this.#snapshot(account, id)
  }

  #begin(account: string, devboxId: string, body: SnapshotCreate): string {
    this.#options.quota.require(account)
    const id = newId('snp')
    this.#options.store.insert({
      id,
      account,
      source_devbox_id: devboxId,
      create_time_ms: Date.now(),
      name: body.name || null,
      commit_message: body.commit_message || null,
      metadata: body.metadata ?? {},
    })
    const abort = new AbortController()
    const done = this.#take(account, id, devboxId, abort.signal).finally(() => this.#taking.delete(id))
    this.#taking.set(id, { devboxId, abort, done })
    return id
  }

  /** The snapshot once it is complete. Throws what went wrong. */
  async completed(account: string, id: string): Promise<Snapshot> {
    const problem = await this.#taking.get(id)?.done
    if (problem) throw problem
    return this.#snapshot(account, id)
  }

  /** Throws 404, or 409 with the reason unless the snapshot is complete and no devbox waits for its disk. */
  async delete(account: string, id: string): Promise<void> {
    const { store, folder, quota } = this.#options
    const state = store.state(account, id) ?? notFound('snapshot', id)
    if (state.status === 'deleted') notFound('snapshot', id)
    const refusal = deleteRefusal(state.status)
    if (refusal) throw new ServiceError('conflict', refusal, { shouldRetry: false })
    // It is over in a moment, so the caller may try again.
    if (this.#restoring.has(id) || store.isBeingStartedFrom(account, id))
      throw new ServiceError('conflict', 'A devbox is being started from the snapshot', { retryAfterSeconds: 1 })
    store.delete(id)
    quota.add(account, 'snapshots', -(state.snapshot.size_bytes ?? 0))
    await removeTree(join(folder, id)).catch(logFailure(`The copy of snapshot ${id} stays until the next start`))
  }

  /** Throws unless a devbox of the account can be started from the snapshot: 404, 409 while it is being taken, or 400. */
  requireComplete(account: string, id: string): void {
    const state = this.#options.store.state(account, id) ?? notFound('snapshot', id)
    if (state.status === 'deleted') notFound('snapshot', id)
    if (state.status === 'in_progress')
      throw new ServiceError('conflict', `Snapshot ${id} is still being taken`, {
        field: 'snapshot_id',
        retryAfterSeconds: 1,
      })
    if (state.status !== 'complete')
      throw new ServiceError('invalid_argument', `Snapshot ${id} is not complete: taking it failed`, {
        field: 'snapshot_id',
      })
  }

  /**
   * Copies the snapshot's disk to `home`, which must not exist, and to `tmp` beside it. `home` appears last and whole:
   * where there is one after a crash, the disk is complete. From the call on, the snapshot cannot be deleted.
   */
  async restore(id: string, home: string, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
    const { folder } = this.#options
    const from = join(folder, id)
    const to = join(folder, newId(restoringPrefix))
    const abort = signal ? AbortSignal.any([this.#closing.signal, signal]) : this.#closing.signal
    this.#restoring.set(id, (this.#restoring.get(id) ?? 0) + 1)
    try {
      await this.#restoreSlots.run(abort, async () => {
        if (!existsSync(from)) throw failed(`The copy of snapshot ${id} is gone from the disk of the service`)
        await this.#copy(from, to, abort)
        const tmp = join(dirname(home), 'tmp')
        await removeTree(tmp)
        await mkdir(dirname(home), { recursive: true, mode: 0o700 })
        if (existsSync(join(to, 'tmp'))) await rename(join(to, 'tmp'), tmp)
        await rename(join(to, 'home'), home)
      })
    } finally {
      const others = (this.#restoring.get(id) ?? 1) - 1
      if (others > 0) this.#restoring.set(id, others)
      else this.#restoring.delete(id)
      await this.#discard(to)
    }
  }

  /** Whether a snapshot of the devbox is being taken, or waits to be. */
  isBeingTaken(devboxId: string): boolean {
    return this.#of(devboxId).length > 0
  }

  /** Resolves when no snapshot of the devbox is being taken any more; `abort` gives up those that are. */
  async settled(devboxId: string, { abort }: { abort: boolean }): Promise<void> {
    const all = this.#of(devboxId)
    if (abort)
      for (const taking of all)
        taking.abort.abort(
          new ServiceError('conflict', 'The devbox was shut down while the snapshot was being taken', {
            shouldRetry: false,
          }),
        )
    await Promise.all(all.map(({ done }) => done))
  }

  get #marks() {
    return { DEVDECK_SERVICE_ID: this.#options.serviceId, DEVDECK_COPIES: 'snapshots' }
  }

  #of(devboxId: string): Taking[] {
    return [...this.#taking.values()].filter((taking) => taking.devboxId === devboxId)
  }

  #snapshot(account: string, id: string): Snapshot {
    return this.#options.store.state(account, id)?.snapshot ?? notFound('snapshot', id)
  }

  async #take(account: string, id: string, devboxId: string, given: AbortSignal): Promise<ServiceError | undefined> {
    const { store, folder, folderOf, isolation, quota } = this.#options
    const to = join(folder, id)
    const signal = AbortSignal.any([given, this.#closing.signal])
    let counted = 0
    const count = (bytes: number) => {
      quota.add(account, 'snapshots', bytes - counted)
      counted = bytes
    }
    try {
      await this.#takeSlots.run(signal, async () => {
        const expected = await usageOf(diskOf(folderOf(devboxId)), { isolation, marks: this.#marks, signal })
        quota.require(account, expected)
        count(expected)
        await this.#copy(folderOf(devboxId), to, signal)
        const size = await sizeOf(to, { isolation, marks: this.#marks, signal })
        // First: a copy that has its record beside it is complete, whatever an older database says.
        await writeSnapshotFile(to, { ...store.mustFind(id), size_bytes: size })
        store.complete(id, size)
        count(size)
      })
      return undefined
    } catch (error) {
      const problem = asServiceError(error)
      if (problem !== error) logFailure(`Snapshot ${id} could not be taken`)(error)
      await this.#discard(to)
      count(0)
      await untilStored(
        () => store.fail(id, problem.message),
        `The end of snapshot ${id} is not recorded yet`,
        this.#closing.signal,
      )
      return problem
    }
  }

  async #copy(from: string, to: string, signal: AbortSignal): Promise<void> {
    const tooLong = AbortSignal.timeout(maxCopyMs)
    await mkdir(to, { recursive: true, mode: 0o700 })
    await copyFolders({
      from: diskOf(from),
      to,
      isolation: this.#options.isolation,
      marks: this.#marks,
      signal: AbortSignal.any([signal, tooLong]),
    }).catch((error: unknown) => {
      throw tooLong.aborted && !signal.aborted ? failed('Copying the disk took too long') : error
    })
    // Files that vanish during the copy are left out, but the home directory must be there.
    if (!existsSync(join(to, 'home'))) throw failed('The devbox has no home directory')
  }

  /** Removes what is left of a copy; when the service is closing, that is left to the next start. */
  async #discard(path: string): Promise<void> {
    if (this.#closing.signal.aborted) return
    await removeTree(path).catch(logFailure(`${path} stays until the next start`))
  }
}

const restoringPrefix = 'restoring'
const isRestoring = (name: string) => name.startsWith(`${restoringPrefix}_`)

/** The folders of a devbox's disk that are there. */
const diskOf = (folder: string): string[] =>
  diskFolders.map((name) => join(folder, name)).filter((path) => existsSync(path))

const failed = (message: string) => new ServiceError('internal', message, { shouldRetry: false })

const asServiceError = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error
  return isDiskFull(error) ? diskFull(error) : failed('The disk could not be copied')
}
