interface Owner {
  account: string
  job: string
}

interface Waiting extends Owner {
  take: () => void
}

/**
 * Lets at most so many trials run at once, over all jobs. The next slot goes to the account that has the fewest trials
 * running, among its jobs to the one with the fewest, and among equals to the trial that has waited longest: a job of
 * thousands of trials does not keep a small one waiting.
 */
export class TrialSlots {
  readonly #count: number
  readonly #running: Owner[] = []
  readonly #waiting: Waiting[] = []

  constructor(count: number) {
    this.#count = count
  }

  /** Rejects with the signal's reason when it is aborted before `work` has a slot. */
  async run<T>(owner: Owner, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (this.#running.length < this.#count) this.#running.push(owner)
    else await this.#wait(owner, signal)
    try {
      return await work()
    } finally {
      remove(this.#running, owner)
      this.#next()?.take()
    }
  }

  #wait(owner: Owner, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = {
        ...owner,
        take: () => {
          remove(this.#waiting, waiting)
          // At once, and not when the work begins: the next choice must count it.
          this.#running.push(owner)
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      const leave = () => {
        remove(this.#waiting, waiting)
        reject(signal.reason)
      }
      this.#waiting.push(waiting)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #next(): Waiting | undefined {
    let next: Waiting | undefined
    for (const each of this.#waiting) if (!next || this.#load(each) < this.#load(next)) next = each
    return next
  }

  /** Accounts first, then jobs. */
  #load({ account, job }: Owner): number {
    const ofAccount = this.#running.filter((each) => each.account === account)
    return ofAccount.length * this.#count + ofAccount.filter((each) => each.job === job).length
  }
}

const remove = <T>(list: T[], item: T) => list.splice(list.indexOf(item), 1)
