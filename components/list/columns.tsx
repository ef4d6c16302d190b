import type { RowData } from '@tanstack/react-table'
import Link from 'next/link'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { NameText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatDurationMs } from '#lib/browser/format.ts'
import { withCondition } from '#lib/browser/lists/metadata-condition.ts'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'
import type { Column } from './column.ts'

/** Columns that several tables share. */

export const nameColumn = <Row extends { name?: string | null | undefined }>(): Column<Row> => ({
  accessorKey: 'name',
  id: 'name',
  header: 'Name',
  cell: ({ row }) => <NameText>{row.original.name}</NameText>,
  meta: { priority: 1 },
})

export const idColumn = <Row extends { id: string }>(): Column<Row> => ({
  accessorKey: 'id',
  id: 'id',
  header: 'ID',
  cell: ({ row }) => <CopyableId value={row.original.id} />,
  meta: { priority: 6, width: '11.5rem' },
})

export const DevboxLink = ({ id, tab }: { id: string; tab: string }) => (
  <Link href={paths.devbox(id, tab)} title={id} className="relative z-1 hover:underline">
    {shortenMiddle(id, 18)}
  </Link>
)

export const devboxColumn = <Row extends RowData>(tab: string, idOf: (row: Row) => string): Column<Row> => ({
  accessorFn: idOf,
  id: 'devbox',
  header: 'Devbox',
  cell: ({ row }) => <DevboxLink id={idOf(row.original)} tab={tab} />,
  meta: { priority: 5, mono: true, width: '12rem' },
})

export const timeColumn = <Row extends RowData>(
  header: string,
  timeOf: (row: Row) => number | null | undefined,
): Column<Row> => ({
  accessorFn: timeOf,
  id: header.toLowerCase(),
  header,
  cell: ({ row }) => {
    const ms = timeOf(row.original)
    return ms != null && <RelativeTime ms={ms} />
  },
  meta: { priority: 4, align: 'right', width: '7rem' },
})

export const durationColumn = <Row extends { duration_ms?: number | null | undefined }>(): Column<Row> => ({
  accessorKey: 'duration_ms',
  id: 'duration',
  header: 'Duration',
  cell: ({ row }) => (row.original.duration_ms == null ? '' : formatDurationMs(row.original.duration_ms)),
  meta: { priority: 4, align: 'right', width: '8rem' },
})

interface ListQuery {
  metadata?: MetadataCondition[] | undefined
  starting_after?: string | undefined
}

/** Metadata as chips; a click filters the list by that pair. */
export const metadataColumn = <Row extends { metadata: Record<string, string> }, Query extends ListQuery>(
  query: Query,
  hrefOf: (query: Query) => string,
): Column<Row> => ({
  accessorKey: 'metadata',
  id: 'metadata',
  header: 'Metadata',
  cell: ({ row }) => (
    <MetadataChips
      metadata={row.original.metadata}
      isFollowed
      max={2}
      hrefFor={(key, value) =>
        hrefOf({
          ...query,
          starting_after: undefined,
          metadata: withCondition(query.metadata, { key, op: 'eq', value }),
        })
      }
    />
  ),
  meta: { priority: 5 },
})
