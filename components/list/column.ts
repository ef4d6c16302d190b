import {
  type CellContext,
  type CellData,
  type ColumnDef,
  type RowData,
  type RowSelectionState,
  rowSelectionFeature,
  rowSortingFeature,
  type TableFeatures,
  tableFeatures,
} from '@tanstack/react-table'
import type { ReactNode } from 'react'
import { isoTime } from '#lib/browser/format.ts'
import type { ExportColumn } from '#lib/browser/lists/export.ts'
import type { RuledColumn } from './column-rules.ts'

export const features = tableFeatures({ rowSelectionFeature, rowSortingFeature })

/** Without a prototype: a row's ID may be `constructor`, as a file's name can. */
export const emptySelection: RowSelectionState = Object.create(null)

/** A plain TanStack column. `meta` says how it is laid out. */
// biome-ignore lint/suspicious/noExplicitAny: columns of one table have values of different types
export type Column<Row extends RowData> = ColumnDef<typeof features, Row, any>

declare module '@tanstack/react-table' {
  interface ColumnMeta<in out TFeatures extends TableFeatures, in out TData extends RowData, TValue extends CellData>
    extends RuledColumn {
    align?: 'right' | undefined
    mono?: boolean
    title?: string
    isOptional?: boolean
    /** The value is a time in milliseconds, which CSV files spell as text. */
    isTime?: boolean
    /** Exported fields, if other than the column's value under its key. */
    export?: Readonly<Record<string, (row: TData) => unknown>>
    /** Estimated number of text lines. Rows of a wide table grow with the tallest such cell instead of cutting it off. */
    lines?(row: TData): number
  }
}

export const columnValue = <Row extends RowData>(column: Column<Row>, row: Row): unknown => {
  if ('accessorFn' in column) return column.accessorFn(row, 0)
  return 'accessorKey' in column ? (row as Record<string, unknown>)[String(column.accessorKey)] : undefined
}

export const exportColumns = <Row extends RowData>(columns: readonly Column<Row>[]): ExportColumn<Row>[] =>
  columns.flatMap((column) => {
    const { id = '', meta } = column
    const name = 'accessorKey' in column ? String(column.accessorKey) : id
    const fields = meta?.export ?? { [name]: (row: Row) => columnValue(column, row) }
    return Object.entries(fields).map(([name, value]) => ({
      name,
      value,
      ...(meta?.isTime && { text: (row: Row) => timeText(value(row)) }),
    }))
  })

const timeText = (ms: unknown): string => (typeof ms === 'number' && isoTime(ms)) || ''

/** Calls the cell instead of mounting it as a component: a new column list must not remount every cell. */
export const renderCell = <Row extends RowData>(
  { cell }: Pick<Column<Row>, 'cell'>,
  context: CellContext<typeof features, Row, unknown>,
): ReactNode => (typeof cell === 'function' ? cell(context) : cell)

/** Priorities 1 and 2 always stay in the row; the others may move into its card. */
export const isHideable = ({ priority = 2 }: RuledColumn = {}) => priority > 2

export const narrowOnly = '@2xl:hidden'
