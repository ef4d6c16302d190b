import type { Axon } from '#lib/contract/axons.ts'
import type { MetadataCondition } from '#lib/contract/query-string.ts'
import {
  type AxonFilter,
  type AxonView,
  type ColumnId,
  columnValue,
  readRange,
  readSort,
  type Sort,
} from '../address/axon-view.ts'

/**
 * Whether every axon `narrow` asks for is among those `wide` asks for, so that the rows of the one answer the other. What
 * is not obvious is a no, which costs a call.
 */
export const refines = (wide: AxonFilter, narrow: AxonFilter): boolean =>
  wide.starting_after === narrow.starting_after &&
  (wide.id === undefined || wide.id === narrow.id) &&
  (narrow.name ?? '').startsWith(wide.name ?? '') &&
  foldCase(narrow.search ?? '').includes(foldCase(wide.search ?? '')) &&
  (wide.metadata ?? []).every((each) => narrow.metadata?.some((other) => isWithin(other, each)))

const isWithin = (narrow: MetadataCondition, wide: MetadataCondition): boolean => {
  if (narrow.key !== wide.key) return false
  const values = valuesOf(wide)
  return valuesOf(narrow).every((value) => values.includes(value))
}
const valuesOf = (condition: MetadataCondition) => (condition.op === 'eq' ? [condition.value] : condition.values)

// As the service does: case does not count in a search.
const foldCase = (text: string): string => text.toUpperCase()

/** What the service does with the filters of a list, done here. */
export const matcherOf = ({ name, id, search, metadata = [] }: AxonFilter): ((axon: Axon) => boolean) => {
  const part = search ? foldCase(search) : undefined
  return (axon) =>
    (id === undefined || axon.id === id) &&
    (name === undefined || (axon.name ?? '').startsWith(name)) &&
    (part === undefined || foldCase(axon.name ?? '').includes(part) || foldCase(axon.id).includes(part)) &&
    metadata.every(
      (condition) =>
        Object.hasOwn(axon.metadata, condition.key) &&
        valuesOf(condition).includes(axon.metadata[condition.key] as string),
    )
}

/** The filters only the page has. */
export const shownBy = ({ state, created }: Pick<AxonView, 'state' | 'created'>): ((axon: Axon) => boolean) => {
  const { fromMs = Number.NEGATIVE_INFINITY, beforeMs = Number.POSITIVE_INFINITY } =
    (created && readRange(created)) || {}
  return ({ deleted_at_ms, created_at_ms }) =>
    (state === undefined || (state === 'deleted') === (deleted_at_ms != null)) &&
    (created === undefined || (created_at_ms >= fromMs && created_at_ms < beforeMs))
}

export const sortOf = ({ sort }: Pick<AxonView, 'sort'>): Sort | null => (sort ? readSort(sort) : null)

/** Equal rows keep the order they had, and rows without a value come last either way. */
export const sortAxons = (axons: readonly Axon[], { column, descending }: Sort): Axon[] => {
  const keys = new Map(axons.map((axon) => [axon, sortKey(columnValue(axon, column), column)]))
  const sign = descending ? -1 : 1
  return axons.toSorted((one, other) => {
    const [a, b] = [keys.get(one), keys.get(other)]
    if (a === b) return 0
    if (a === undefined) return 1
    if (b === undefined) return -1
    return a < b ? -sign : sign
  })
}

/** Comparing beyond that many characters would take longer than anyone can tell the difference. */
const comparedLength = 256

const sortKey = (value: unknown, column: ColumnId): string | number | undefined => {
  if (value === undefined || typeof value === 'number') return value
  // Metadata as a whole is compared by how much of it there is.
  if (column === 'metadata') return Object.keys(value as object).length
  // item-9 before item-10, in every browser alike.
  return String(value)
    .slice(0, comparedLength)
    .toLowerCase()
    .replace(/\d+/g, (digits) => digits.padStart(16, '0'))
}
