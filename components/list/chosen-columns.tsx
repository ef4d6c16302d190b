import type { Column } from '#components/ui/data-table-row.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { type ColumnChoice, type ListColumns, metadataKeyOf } from '#lib/browser/address/list-columns.ts'

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
    const column = key === undefined ? columns.find((each) => each.id === id) : valueColumn(id, key)
    return column ? (width ? { ...column, width } : column) : []
  })

/** The value that each row has for a key of its metadata. */
const valueColumn = (id: string, key: string): Column<ListedRow> => ({
  id,
  header: <VisibleText max={60}>{key}</VisibleText>,
  priority: 3,
  sortable: true,
  width: '9rem',
  mono: true,
  cell: ({ metadata }) =>
    metadata && Object.hasOwn(metadata, key) && <VisibleText truncate>{metadata[key] as string}</VisibleText>,
})
