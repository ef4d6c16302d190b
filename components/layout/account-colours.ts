const colours = ['bg-account-0', 'bg-account-1', 'bg-account-2', 'bg-account-3', 'bg-account-4'] as const
export type AccountColour = (typeof colours)[number]

/**
 * A colour for each of the accounts of a browser, by its id, so that it is the same on every page. Of two that would have
 * the same one, the later by id takes the next that is free.
 */
export const accountColours = (ids: readonly string[]): Map<string, AccountColour> => {
  const given = new Map<string, AccountColour>()
  for (const id of [...new Set(ids)].sort()) {
    const first = [...id].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521, 7)
    const taken = new Set(given.values())
    const inTurn = colours.map((_, i) => colours[(first + i) % colours.length] ?? colours[0])
    given.set(id, inTurn.find((each) => !taken.has(each)) ?? colours[0])
  }
  return given
}
