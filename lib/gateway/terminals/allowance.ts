interface Limits {
  /** How much may be spent at once, after a rest. */
  burst: number
  perSecond: number
}

/** What may be spent of something that grows with time. */
export class Allowance {
  readonly #limits: Limits
  #left: number
  #at = performance.now()

  constructor(limits: Limits) {
    this.#limits = limits
    this.#left = limits.burst
  }

  /** Less than nothing is a debt. */
  get left(): number {
    const now = performance.now()
    const { burst, perSecond } = this.#limits
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1000) * perSecond)
    this.#at = now
    return this.#left
  }

  /** Returns what is left then. */
  spend(amount: number): number {
    this.#left = this.left - amount
    return this.#left
  }

  /** Until there is no debt any more. */
  get debtMs(): number {
    return (Math.max(0, -this.left) / this.#limits.perSecond) * 1000
  }
}
