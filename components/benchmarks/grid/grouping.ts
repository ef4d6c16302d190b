import { otherGroup, type ScenarioRow } from './scenario-grid.ts'

interface Grouping {
  of: (row: ScenarioRow) => string
  /** Group of the remaining scenarios. */
  rest: string
  description: string
}

export const groupingOf = (group: string | undefined): Grouping => {
  const key = metadataKeyOf(group)
  if (key === null) return { of: (row) => row.group, rest: otherGroup, description: 'Grouped by shared name prefix.' }
  const rest = `without ${key}`
  return {
    of: ({ metadata }) => metadata?.[key] ?? rest,
    rest,
    description: `Grouped by metadata ${key}.`,
  }
}

export const metadataKeyOf = (group: string | undefined): string | null =>
  group?.startsWith(metadataPrefix) ? group.slice(metadataPrefix.length) : null

export const metadataPrefix = 'metadata.'

/** Metadata keys that divide the scenarios into groups. */
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
