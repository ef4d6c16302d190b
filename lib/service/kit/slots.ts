interface Waiting<Owner> {
  owner: Owner
  take: () => void
}

/** Limits concurrent work. The next slot goes to the owner with the least load, then to the longest waiting. */
export class Slots<Owner = void> {
  readonly #count: number
  readonly #load: (owner: Owner, running: readonly Owner[]) => number
  readonly #running: Owner[] = []
  readonly #waiting: Waiting<Owner>[] = []

  constructor(count: number, load: (owner: Owner, running: readonly Owner[]) => number = () => 0) {
    this.#count = count
    this.#load = load
  }

  async run<T>(signal: AbortSignal, work: () => Promise<T>, owner: Owner): Promise<T> {
    signal.throwIfAborted()
    if (this.#running.length < this.#count) this.#running.push(owner)
    else await this.#waitForSlot(signal, owner)
    try {
      return await work()
    } finally {
      remove(this.#running, owner)
      this.#next()?.take()
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
      }
      const waiting = { owner, take }
      this.#waiting.push(waiting)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  #next(): Waiting<Owner> | undefined {
    const loads = this.#waiting.map(({ owner }) => this.#load(owner, this.#running))
    return this.#waiting[loads.indexOf(Math.min(...loads))]
  }
}

const remove = <T>(list: T[], item: T) => list.splice(list.indexOf(item), 1)
