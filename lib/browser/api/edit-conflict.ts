export interface Described {
  name?: string | null | undefined
  commit_message?: string | null | undefined
  metadata: Readonly<Record<string, string>>
}

export class EditConflictError extends Error {
  readonly current: Described

  constructor(current: Described) {
    super('It changed since you opened it')
    this.current = current
  }
}

export const flattenDescription = ({ name, commit_message, metadata }: Described): Record<string, string> => ({
  ...(name && { name }),
  ...(commit_message && { commit_message }),
  ...Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value])),
})

/** The API has no conditional update, so a change between this check and the save is still overwritten. */
export const throwIfChanged = (base: Described, current: Described): void => {
  const serialize = (described: Described) => JSON.stringify(Object.entries(flattenDescription(described)).sort())
  if (serialize(base) !== serialize(current)) throw new EditConflictError(current)
}
