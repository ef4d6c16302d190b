interface Waiting<Owner> {
  owner: Owner
  take: () => void
}

/**
 * Lets at most so many pieces of work run at once; the others wait. The next place goes to the owner with the least load,
 * among equals to the one who has waited longest; without a `load` all are equal.
 */
export class Slots<Owner = void> {
  readonly #count: number
  readonly #load: (owner: Owner, running: readonly Owner[]) => number
  readonly #running: Owner[] = []
  readonly #waiting: Waiting<Owner>[] = []

  constructor(count: number, load: (owner: Owner, running: readonly Owner[]) => number = () => 0) {
    this.#count = count
    this.#load = load
  }

  /** Rejects with the signal's reason when it is aborted before the turn of `work` has come. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>, owner: Owner): Promise<T> {
    signal.throwIfAborted()
    if (this.#running.length < this.#count) this.#running.push(owner)
    else await this.#turn(signal, owner)
    try {
      return await work()
    } finally {
      remove(this.#running, owner)
      this.#next()?.take()
    }
  }

  #turn(signal: AbortSignal, owner: Owner): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = () => {
        signal.removeEventListener('abort', leave)
        remove(this.#waiting, waiting)
        // At once, and not when the work begins: the next choice must count it.
        this.#running.push(owner)
        resolve()
      }
      const leave = () => {
        remove(this.#waiting, waiting)
        reject(signal.reason)
      }
      const waiting = { owner, take }
      this.#waiting.push(waiting)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #next(): Waiting<Owner> | undefined {
    const loads = this.#waiting.map(({ owner }) => this.#load(owner, this.#running))
    return this.#waiting[loads.indexOf(Math.min(...loads))]
  }
}

const remove = <T>(list: T[], item: T) => list.splice(list.indexOf(item), 1)
