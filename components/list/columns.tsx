import Link from 'next/link'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { NameText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatDurationMs } from '#lib/browser/format.ts'
import { withCondition } from '#lib/browser/lists/metadata-condition.ts'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'

/** The columns that several tables have. */

export const nameColumn: Column<{ name?: string | null | undefined }> = {
  id: 'name',
  header: 'Name',
  priority: 1,
  cell: ({ name }) => <NameText>{name}</NameText>,
}

export const idColumn: Column<{ id: string }> = {
  id: 'id',
  header: 'Id',
  priority: 6,
  width: '11.5rem',
  cell: ({ id }) => <CopyableId value={id} />,
}

/** A link to the devbox that a row came from, to the tab its likes are on. */
export const devboxColumn = <Row,>(tab: string, idOf: (row: Row) => string): Column<Row> => ({
  id: 'devbox',
  header: 'Devbox',
  priority: 5,
  mono: true,
  width: '12rem',
  cell: (row) => {
    const id = idOf(row)
    return (
      <Link href={paths.devbox(id, tab)} title={id} className="relative z-1 hover:underline">
        {shortenMiddle(id, 18)}
      </Link>
    )
  },
})

export const timeColumn = <Row,>(header: string, timeOf: (row: Row) => number | null | undefined): Column<Row> => ({
  id: header.toLowerCase(),
  header,
  priority: 4,
  align: 'right',
  width: '7rem',
  cell: (row) => {
    const ms = timeOf(row)
    return ms != null && <RelativeTime ms={ms} />
  },
})

export const durationColumn: Column<{ duration_ms?: number | null | undefined }> = {
  id: 'duration',
  header: 'Duration',
  priority: 4,
  align: 'right',
  width: '8rem',
  cell: ({ duration_ms }) => (duration_ms == null ? '' : formatDurationMs(duration_ms)),
}

interface ListQuery {
  metadata?: MetadataCondition[] | undefined
  starting_after?: string | undefined
}

/** The metadata of each row; a click on a pair narrows the list to it, from the newest row on. */
export const metadataColumn = <Query extends ListQuery>(
  query: Query,
  hrefOf: (query: Query) => string,
): Column<{ metadata: Record<string, string> }> => ({
  id: 'metadata',
  header: 'Metadata',
  priority: 5,
  cell: ({ metadata }) => (
    <MetadataChips
      metadata={metadata}
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
})
