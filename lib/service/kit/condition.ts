/** Tells waiting code that something has changed, not what. */
export class Condition {
  #change = Promise.withResolvers<void>()

  /** Resolves at the next `notify`. To be read before the state is, so that no change is missed. */
  get changed(): Promise<void> {
    return this.#change.promise
  }

  readonly notify = (): void => {
    const { resolve } = this.#change
    this.#change = Promise.withResolvers()
    resolve()
  }
}
