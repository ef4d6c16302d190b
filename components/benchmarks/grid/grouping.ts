import { otherGroup, type ScenarioRow } from './scenario-grid.ts'

/** How scenarios are put together, as the address says it. */
interface Grouping {
  of: (row: ScenarioRow) => string
  /** The group of those that belong to no other. */
  rest: string
  words: string
}

export const groupingOf = (group: string | undefined): Grouping => {
  const key = metadataKeyOf(group)
  if (key === null) return { of: (row) => row.group, rest: otherGroup, words: 'Groups are prefixes that names share.' }
  const rest = `without ${key}`
  return {
    of: ({ metadata }) => metadata?.[key] ?? rest,
    rest,
    words: `Groups are what the metadata of scenarios says under ${key}.`,
  }
}

/** The key of metadata that scenarios are grouped by; null where they are not. */
export const metadataKeyOf = (group: string | undefined): string | null =>
  group?.startsWith(metadataPrefix) ? group.slice(metadataPrefix.length) : null

export const metadataPrefix = 'metadata.'

/** The keys of metadata that put some scenarios together and others not. */
export const groupingKeys = (rows: readonly ScenarioRow[]): string[] => {
  const values = new Map<string, Set<string>>()
  for (const { metadata } of rows)
    for (const [key, value] of Object.entries(metadata ?? {}))
      values.set(key, (values.get(key) ?? new Set()).add(value))
  const without = (key: string) => rows.some(({ metadata }) => metadata?.[key] === undefined)
  return [...values]
    .filter(([key, { size }]) => size < rows.length && (size > 1 || without(key)))
    .map(([key]) => key)
    .sort()
}
