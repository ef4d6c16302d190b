/** Token bucket: refills at `perSecond`, up to `burst`. */
export class Allowance {
  readonly #limits: { burst: number; perSecond: number }
  #left: number
  #at = performance.now()

  constructor(limits: { burst: number; perSecond: number }) {
    this.#limits = limits
    this.#left = limits.burst
  }

  get left(): number {
    const now = performance.now()
    const { burst, perSecond } = this.#limits
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1000) * perSecond)
    this.#at = now
    return this.#left
  }

  spend(amount: number): number {
    this.#left = this.left - amount
    return this.#left
  }

  get debtMs(): number {
    return (Math.max(0, -this.left) / this.#limits.perSecond) * 1000
  }
}
