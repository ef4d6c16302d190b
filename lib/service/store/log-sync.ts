import { closeSync, fdatasync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/**
 * Brings the write-ahead log onto the disk without holding up this thread, for transactions that did not wait for that
 * themselves. SQLite takes care of the rest: it syncs the log before it moves anything from there into the database file.
 */
export class LogSync {
  readonly #database: DatabaseSync
  #handle: number | undefined
  #waiting: PromiseWithResolvers<void> | undefined
  #isRunning = false
  #isDoubtful = false

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** Before a transaction that will need `sync`; throws when that would be in vain. */
  open(): void {
    // There as long as the database is open.
    this.#handle ??= openSync(`${this.#database.location()}-wal`, 'r')
    this.mend()
  }

  /** Resolves once all that was committed before the call is on the disk. Those who call meanwhile share the next sync. */
  sync(): Promise<void> {
    this.#waiting ??= Promise.withResolvers()
    const { promise } = this.#waiting
    if (!this.#isRunning) this.#run()
    return promise
  }

  /**
   * After a sync that failed. The system tells of a page it could not write only once and takes it for written then; what
   * is appended behind it would be lost with it. So all goes into the database file, and the log begins anew. Throws when
   * that cannot be either.
   */
  mend(): void {
    if (!this.#isDoubtful) return
    const { busy } = this.#database.prepare('PRAGMA wal_checkpoint(RESTART)').get() as { busy: number }
    if (busy) throw new Error('The log of the database cannot begin anew while it is read')
    this.#isDoubtful = false
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle)
    this.#handle = undefined
  }

  #run(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (!waiting) return
    if (this.#handle === undefined) {
      // Nothing was committed that did not wait.
      waiting.resolve()
      return
    }
    this.#isRunning = true
    fdatasync(this.#handle, (failure) => {
      this.#isRunning = false
      if (failure) this.#isDoubtful = true
      try {
        this.mend()
        waiting.resolve()
      } catch (error) {
        waiting.reject(failure ?? error)
      }
      this.#run()
    })
  }
}
