import type { Column } from '#components/list/column.ts'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { NameText } from '#components/ui/visible-text.tsx'
import { type AxonView, axonViewPath, columnValue } from '#lib/browser/address/axon-view.ts'
import { axonColumns } from '#lib/browser/address/columns/axon-columns.ts'
import { withCondition } from '#lib/browser/lists/metadata-condition.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { AxonState } from './axon-state.tsx'

/** Every column the list can have; those of metadata keys aside. */
export const columnsFor = (view: AxonView): Column<Axon>[] => [
  {
    ...shared('name'),
    cell: ({ row }) => <NameText>{row.original.name}</NameText>,
    meta: { priority: 1 },
  },
  {
    ...shared('id'),
    cell: ({ row }) => <CopyableId value={row.original.id} />,
    meta: { priority: 6, width: '11.5rem' },
  },
  {
    ...shared('state'),
    cell: ({ row: { original: axon } }) => <AxonState axon={axon} />,
    meta: { priority: 2, width: '11rem' },
  },
  {
    ...shared('metadata'),
    cell: ({ row }) => (
      <MetadataChips
        max={shownPairs}
        metadata={row.original.metadata}
        isFollowed
        hrefFor={(key, value) =>
          axonViewPath({
            ...view,
            starting_after: undefined,
            metadata: withCondition(view.metadata, { key, op: 'eq', value }),
          })
        }
      />
    ),
    meta: { priority: 5 },
  },
  {
    ...shared('created'),
    cell: ({ row }) => <RelativeTime ms={row.original.created_at_ms} />,
    meta: { priority: 3, align: 'right', width: '8rem' },
  },
  {
    ...shared('deleted'),
    cell: ({ row }) => row.original.deleted_at_ms != null && <RelativeTime ms={row.original.deleted_at_ms} />,
    meta: { priority: 4, align: 'right', width: '8rem' },
  },
]

const shared = (id: keyof typeof axonColumns.labels) =>
  ({
    id,
    header: axonColumns.labels[id],
    accessorFn: (axon: Axon) => columnValue(axon, id),
  }) as const

/** Pairs of metadata shown as chips; the others are counted. */
const shownPairs = 3
