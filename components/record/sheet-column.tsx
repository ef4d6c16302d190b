import type { Column } from '#components/list/column.ts'
import { NameText } from '#components/ui/visible-text.tsx'

/** The name, which opens the record's sheet. */
export const sheetColumn = <Row extends { id: string; name: string }>(onShow: (id: string) => void): Column<Row> => ({
  accessorKey: 'name',
  id: 'name',
  header: 'Name',
  cell: ({ row: { original } }) => (
    <button
      type="button"
      aria-haspopup="dialog"
      onClick={() => onShow(original.id)}
      className="block min-h-6 max-w-full truncate text-left hover:underline"
    >
      <NameText>{original.name}</NameText>
    </button>
  ),
  meta: { priority: 1 },
})
