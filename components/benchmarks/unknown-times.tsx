import type { RowData } from '@tanstack/react-table'
import type { Column } from '#components/list/column.ts'
import { durationColumn, timeColumn } from '#components/list/columns.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { formatDurationMs } from '#lib/browser/format.ts'

export const Unknown = () => <span className="text-muted">Unknown</span>

interface Timed {
  duration_ms?: number | null | undefined
}

/** Imported trials may have no times. */
export const durationOnceEnded = <Row extends Timed>(hasEnded: (row: Row) => boolean): Column<Row> => ({
  ...durationColumn<Row>(),
  cell: ({ row: { original: row } }) =>
    row.duration_ms != null ? formatDurationMs(row.duration_ms) : hasEnded(row) && <Unknown />,
})

export const timeOrUnknown = <Row extends RowData>(
  header: Parameters<typeof timeColumn>[0],
  timeOf: (row: Row) => number | null | undefined,
): Column<Row> => ({
  ...timeColumn(header, timeOf),
  cell: ({ row: { original: row } }) => <RelativeTime ms={timeOf(row) ?? null} />,
})
