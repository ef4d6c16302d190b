import { type Column, columnValue } from './column.ts'
import { findColumn, readColumnId, writeColumnId } from './column-choice.tsx'
import type { Sort } from './data-table.tsx'

interface SortableRow {
  id: string
  metadata?: Readonly<Record<string, string>> | null | undefined
}

/** Reads `name` or `-name`. Null if there is no such column. */
export const readSort = <Row extends SortableRow>(
  text: string | undefined,
  columns: readonly Column<Row>[],
): Sort | null => {
  if (!text) return null
  const descending = text.startsWith('-')
  const column = readColumnId(descending ? text.slice(1) : text, columns)
  return column === null ? null : { column, descending }
}

export const writeSort = ({ column, descending }: Sort): string => `${descending ? '-' : ''}${writeColumnId(column)}`

/** Stable; rows without a value come last in both directions. */
export const sortRows = <Row extends SortableRow>(
  rows: readonly Row[],
  { column: id, descending }: Sort,
  columns: readonly Column<Row>[],
): readonly Row[] => {
  const column = findColumn(id, columns)
  if (!column) return rows
  const keys = new Map(rows.map((row) => [row, sortKey(columnValue(column, row))]))
  const sign = descending ? -1 : 1
  return rows.toSorted((one, other) => {
    const [a, b] = [keys.get(one), keys.get(other)]
    if (a === b) return 0
    if (a === undefined) return 1
    if (b === undefined) return -1
    return a < b ? -sign : sign
  })
}

/** Compares only the start of longer texts, to keep sorting fast. */
const comparedLength = 256

const sortKey = (value: unknown): string | number | undefined => {
  if (value == null) return undefined
  if (typeof value === 'number') return value
  // Metadata is sorted by its number of keys.
  if (typeof value === 'object') return Object.keys(value).length
  // Padded, so that item-9 comes before item-10.
  return String(value)
    .slice(0, comparedLength)
    .toLowerCase()
    .replace(/\d+/g, (digits) => digits.padStart(16, '0'))
}
