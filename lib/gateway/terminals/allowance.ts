/** A budget that grows by so much a second, up to `burst`: what may be spent at once after a pause. */
export class Allowance {
  readonly #limits: { burst: number; perSecond: number }
  #left: number
  #at = performance.now()

  constructor(limits: { burst: number; perSecond: number }) {
    this.#limits = limits
    this.#left = limits.burst
  }

  /** Negative when more was spent than there was. */
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

  /** How long until nothing is owed. */
  get debtMs(): number {
    return (Math.max(0, -this.left) / this.#limits.perSecond) * 1000
  }
}
