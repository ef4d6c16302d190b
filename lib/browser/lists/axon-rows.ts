import type { Axon } from '#lib/contract/axons.ts'
import { type AxonView, type ColumnId, columnValue, readRange, readSort, type Sort } from '../address/axon-view.ts'

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
