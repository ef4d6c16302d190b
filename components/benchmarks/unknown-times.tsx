import type { RowData } from '@tanstack/react-table'
import type { Column } from '#components/list/column.ts'
import { durationColumn, type TimeAccessor, timeColumn } from '#components/list/columns.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { formatDurationMs } from '#lib/browser/format.ts'

export const Unknown = () => <span className="text-muted">Unknown</span>

/** Shows "Unknown" for ended rows without a duration, such as imported trials. */
export const durationOnceEnded = <Row extends { duration_ms?: number | null | undefined }>(
  hasEnded: (row: Row) => boolean,
): Column<Row> => ({
  ...durationColumn<Row>(),
  cell: ({ row: { original: row } }) =>
    row.duration_ms != null ? formatDurationMs(row.duration_ms) : hasEnded(row) && <Unknown />,
})

export const timeOrUnknown = <Row extends RowData>(accessor: TimeAccessor<Row>, header: string): Column<Row> => ({
  ...timeColumn(accessor, header),
  cell: ({ getValue }) => <RelativeTime ms={getValue() ?? null} />,
})
