import { closeSync, fdatasync, openSync } from 'node:fs'
import { ServiceError } from '#lib/service/kit/errors.ts'

/**
 * Flushes the write-ahead log to disk without blocking the event loop. Commits during a flush share the next one.
 * A failed flush is final: Linux reports it once and may drop the pages, so a second flush would succeed without them.
 */
export class LogFlush {
  readonly #handle: number
  readonly #onFailure: (error: Error) => void
  #flushedTo: number
  #running: { to: number; done: Promise<void> } | undefined
  #next: { to: number; done: Promise<void> } | undefined
  #failure: ServiceError | undefined

  /** `position` counts changes; those up to it are on disk. */
  constructor(file: string, position: number, onFailure: (error: Error) => void) {
    // Kept open: the kernel reports a failed write only to descriptors that were open then.
    this.#handle = openSync(file, 'r')
    this.#flushedTo = position
    this.#onFailure = onFailure
  }

  /** Resolves once all changes up to `position`, the current one, are on disk. */
  flushed(position: number): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure)
    if (position <= this.#flushedTo) return Promise.resolve()
    if (!this.#running) return this.#start(position)
    if (position <= this.#running.to) return this.#running.done
    if (!this.#next) {
      const next = { to: position, done: Promise.resolve() }
      next.done = this.#running.done.then(() => {
        this.#next = undefined
        return this.flushed(next.to)
      })
      this.#next = next
    }
    this.#next.to = Math.max(this.#next.to, position)
    return this.#next.done
  }

  async close(position: number): Promise<void> {
    await this.flushed(position).catch(() => undefined)
    await this.#next?.done.catch(() => undefined)
    closeSync(this.#handle)
  }

  #start(to: number): Promise<void> {
    const done = new Promise<void>((resolve, reject) =>
      fdatasync(this.#handle, (error) => {
        this.#running = undefined
        if (error) {
          this.#failure = new ServiceError(
            'unavailable',
            `The disk failed, so the change may be lost: ${error.message}`,
            {
              shouldRetry: false,
              cause: error,
            },
          )
          reject(this.#failure)
          return this.#onFailure(error)
        }
        this.#flushedTo = Math.max(this.#flushedTo, to)
        resolve()
      }),
    )
    this.#running = { to, done }
    return done
  }
}
