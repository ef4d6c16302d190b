import type { Column } from '#components/ui/data-table-row.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { withCondition } from '#lib/console/lists/metadata-condition.ts'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'

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
  priority: 3,
  cell: ({ metadata }) => (
    <MetadataChips
      metadata={metadata}
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
