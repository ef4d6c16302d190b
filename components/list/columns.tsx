import type { RowData } from '@tanstack/react-table'
import Link from 'next/link'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { NameText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatDurationMs } from '#lib/browser/format.ts'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'
import type { Column } from './column.ts'
import { withCondition } from './metadata-condition.ts'

export const nameColumn = <Row extends { name?: string | null | undefined }>(): Column<Row> => ({
  accessorKey: 'name',
  id: 'name',
  header: 'Name',
  cell: ({ getValue }) => <NameText>{getValue()}</NameText>,
  meta: { priority: 1 },
})

export const idColumn = <Row extends { id: string }>(): Column<Row> => ({
  accessorKey: 'id',
  id: 'id',
  header: 'ID',
  cell: ({ getValue }) => <CopyableId value={getValue()} />,
  meta: { priority: 6, width: '11.5rem' },
})

export const DevboxLink = ({ id, tab }: { id: string; tab: string }) => (
  <Link href={paths.devbox(id, tab)} title={id} className="relative z-1 hover:underline">
    {shortenMiddle(id, 18)}
  </Link>
)

export const devboxColumn = <Row extends RowData>(key: keyof Row & string, tab: string): Column<Row> => ({
  accessorKey: key,
  id: 'devbox',
  header: 'Devbox',
  cell: ({ getValue }) => <DevboxLink id={getValue()} tab={tab} />,
  meta: { priority: 5, mono: true, width: '12rem' },
})

export type TimeAccessor<Row> = (keyof Row & string) | ((row: Row) => number | null | undefined)

export const timeColumn = <Row extends RowData>(accessor: TimeAccessor<Row>, header: string): Column<Row> => ({
  ...(typeof accessor === 'string' ? { accessorKey: accessor } : { accessorFn: accessor }),
  id: header.toLowerCase(),
  header,
  cell: ({ getValue }) => getValue() != null && <RelativeTime ms={getValue()} />,
  meta: { priority: 4, align: 'right', width: '7rem', isTime: true },
})

export const durationColumn = <Row extends { duration_ms?: number | null | undefined }>(): Column<Row> => ({
  accessorKey: 'duration_ms',
  id: 'duration',
  header: 'Duration',
  cell: ({ getValue }) => (getValue() == null ? '' : formatDurationMs(getValue())),
  meta: { priority: 4, align: 'right', width: '8rem' },
})

interface ListQuery {
  metadata?: MetadataCondition[] | undefined
  starting_after?: string | undefined
}

/** Metadata as chips; a click filters the list by that pair. */
export const metadataColumn = <
  Row extends { metadata?: Record<string, string> | null | undefined },
  Query extends ListQuery,
>(
  query: Query,
  hrefOf: (query: Query) => string,
  max = 2,
): Column<Row> => ({
  accessorKey: 'metadata',
  id: 'metadata',
  header: 'Metadata',
  cell: ({ getValue }) => (
    <MetadataChips
      metadata={getValue() ?? {}}
      isFollowed
      max={max}
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

export const optional = <Row extends RowData>(column: Column<Row>): Column<Row> => ({
  ...column,
  meta: { ...column.meta, isOptional: true },
})
