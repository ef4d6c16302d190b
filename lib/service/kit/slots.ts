interface Waiting<Owner> {
  owner: Owner
  take: () => void
}

interface Options<Owner> {
  /** Default: the same for all. */
  load?: (owner: Owner, running: readonly Owner[]) => number
  /** Whether the next in line may start. Those behind it wait, too. */
  hasRoom?: (owner: Owner) => boolean
}

/** Limits concurrent work. The next slot goes to the owner with the least load, then to the longest waiting. */
export class Slots<Owner = void> {
  readonly #count: number
  readonly #options: Options<Owner>
  readonly #running: Owner[] = []
  readonly #waiting: Waiting<Owner>[] = []

  constructor(count: number, options: Options<Owner> = {}) {
    this.#count = count
    this.#options = options
  }

  /** `release` gives the slot back before the work has ended. */
  async run<T>(signal: AbortSignal, work: (release: () => void) => Promise<T>, owner: Owner): Promise<T> {
    signal.throwIfAborted()
    await this.#waitForSlot(signal, owner)
    let isHeld = true
    const release = () => {
      if (!isHeld) return
      isHeld = false
      remove(this.#running, owner)
      this.startNext()
    }
    try {
      return await work(release)
    } finally {
      release()
    }
  }

  get running(): readonly Owner[] {
    return this.#running
  }

  get waiting(): readonly Owner[] {
    return this.#waiting.map(({ owner }) => owner)
  }

  /** Starts what may start now. Call when there may be more room. */
  startNext(): void {
    const { load = () => 0, hasRoom = () => true } = this.#options
    while (this.#running.length < this.#count && this.#waiting.length > 0) {
      const loads = this.#waiting.map(({ owner }) => load(owner, this.#running))
      const next = this.#waiting[loads.indexOf(Math.min(...loads))] as Waiting<Owner>
      if (!hasRoom(next.owner)) return
      next.take()
    }
  }

  #waitForSlot(signal: AbortSignal, owner: Owner): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = () => {
        signal.removeEventListener('abort', onAbort)
        remove(this.#waiting, waiting)
        this.#running.push(owner)
        resolve()
      }
      const onAbort = () => {
        remove(this.#waiting, waiting)
        reject(signal.reason)
        // It may have blocked others.
        this.startNext()
      }
      const waiting = { owner, take }
      this.#waiting.push(waiting)
      signal.addEventListener('abort', onAbort, { once: true })
      this.startNext()
    })
  }
}

const remove = <T>(list: T[], item: T) => list.splice(list.indexOf(item), 1)
