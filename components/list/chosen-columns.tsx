import { VisibleText } from '#components/ui/visible-text.tsx'
import { type ColumnChoice, type ListColumns, metadataKeyOf } from '#lib/browser/address/list-columns.ts'
import type { Column } from './column.ts'

interface ListedRow {
  id: string
  metadata?: Readonly<Record<string, string>> | null | undefined
}

/** The columns of a table as they were chosen; what the table does not have now is left out. */
export const chosenColumns = <Row extends ListedRow>(
  choices: readonly ColumnChoice[] | null,
  { usual }: ListColumns,
  columns: readonly Column<Row>[],
): Column<Row>[] =>
  (choices ?? usual.map((id): ColumnChoice => ({ id }))).flatMap(({ id, width }) => {
    const key = metadataKeyOf(id)
    const column = key === undefined ? columns.find((each) => each.id === id) : metadataValueColumn<Row>(id, key)
    return column ? (width ? { ...column, meta: { ...column.meta, width } } : column) : []
  })

const metadataValueColumn = <Row extends ListedRow>(id: string, key: string): Column<Row> => ({
  accessorFn: ({ metadata }) => (metadata && Object.hasOwn(metadata, key) ? metadata[key] : undefined),
  id,
  header: () => <VisibleText max={60}>{key}</VisibleText>,
  cell: ({ getValue }) => getValue() !== undefined && <VisibleText truncate>{getValue()}</VisibleText>,
  meta: { priority: 3, width: '9rem', mono: true },
})
