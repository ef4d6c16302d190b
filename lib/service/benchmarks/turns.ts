interface Who {
  account: string
  job: string
}

interface Waiting extends Who {
  take: () => void
}

/**
 * Lets at most so many trials run at once, over all jobs. The next turn goes to the account that has the fewest trials
 * running, among its jobs to the one with the fewest, and among equals to who has waited longest: a job of thousands of
 * trials does not keep a small one waiting.
 */
export class Turns {
  #free: number
  readonly #waiting: Waiting[] = []
  readonly #running = new Map<string, number>()

  constructor(count: number) {
    this.#free = count
  }

  /** Rejects with the signal's reason when it is aborted before the turn of `work` has come. */
  async run<T>(who: Who, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#take(who)
    else await this.#turn(who, signal)
    try {
      return await work()
    } finally {
      this.#count(who, -1)
      this.#free++
      this.#pass()
    }
  }

  #turn(who: Who, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = () => {
        this.#take(who)
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiting = { ...who, take }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal.reason)
      }
      this.#waiting.push(waiting)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #pass() {
    let next: Waiting | undefined
    for (const each of this.#waiting) if (!next || this.#load(each) < this.#load(next)) next = each
    if (!next) return
    this.#waiting.splice(this.#waiting.indexOf(next), 1)
    next.take()
  }

  /** At once, not when the one whose turn it is gets to run: the next look must see it. */
  #take(who: Who) {
    this.#free--
    this.#count(who, 1)
  }

  /** Accounts first, then jobs. */
  #load({ account, job }: Who): number {
    return this.#of(`account ${account}`) * 1e6 + this.#of(`job ${job}`)
  }

  #of(key: string): number {
    return this.#running.get(key) ?? 0
  }

  #count({ account, job }: Who, by: 1 | -1) {
    for (const key of [`account ${account}`, `job ${job}`]) {
      const running = this.#of(key) + by
      if (running > 0) this.#running.set(key, running)
      else this.#running.delete(key)
    }
  }
}
