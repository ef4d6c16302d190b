export class Condition {
  #change = Promise.withResolvers<void>()

  /** Resolves at the next `notify`. Read it before the state, so no change is missed. */
  get changed(): Promise<void> {
    return this.#change.promise
  }

  readonly notify = (): void => {
    const { resolve } = this.#change
    this.#change = Promise.withResolvers()
    resolve()
  }
}
