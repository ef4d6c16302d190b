/** What people write about a thing: its name, a message, its metadata. */
export interface Described {
  name?: string | null | undefined
  commit_message?: string | null | undefined
  metadata: Readonly<Record<string, string>>
}

/** Instead of a save that would have undone what somebody else saved meanwhile. */
export class ChangedMeanwhile extends Error {
  /** As it is now. */
  readonly now: Described

  constructor(now: Described) {
    super('It was changed meanwhile')
    this.now = now
  }
}

/** All of it as one map, to compare; what is empty is absent. */
export const descriptionOf = ({ name, commit_message, metadata }: Described): Record<string, string> => ({
  ...(name && { name }),
  ...(commit_message && { commit_message }),
  ...Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value])),
})

/** Throws when `now` says anything else than `base`. The interface has no conditional save: a moment is left between. */
export const refuseIfChanged = (base: Described, now: Described): void => {
  const textOf = (described: Described) => JSON.stringify(Object.entries(descriptionOf(described)).sort())
  if (textOf(base) !== textOf(now)) throw new ChangedMeanwhile(now)
}
