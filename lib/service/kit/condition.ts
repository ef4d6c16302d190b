/** Wakes those who wait for a change; what has changed they find out themselves. */
export class Condition {
  #change = Promise.withResolvers<void>()

  /** Resolves at the next `notify`. To be asked for before one looks, so that no change goes unnoticed. */
  get changed(): Promise<void> {
    return this.#change.promise
  }

  readonly notify = (): void => {
    const { resolve } = this.#change
    this.#change = Promise.withResolvers()
    resolve()
  }
}
