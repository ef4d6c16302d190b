import { CopyableId } from '#components/ui/copyable-id.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { NameText } from '#components/ui/visible-text.tsx'
import { type AxonView, axonViewPath } from '#lib/browser/address/axon-view.ts'
import { axonColumns } from '#lib/browser/address/columns/axon-columns.ts'
import { withCondition } from '#lib/browser/lists/metadata-condition.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { AxonState } from './axon-state.tsx'

/** Every column the list can have; those of metadata keys aside. */
export const columnsFor = (view: AxonView): Column<Axon>[] => [
  {
    ...shared('name'),
    priority: 1,
    cell: ({ name }) => <NameText>{name}</NameText>,
  },
  {
    ...shared('id'),
    priority: 6,
    width: '11.5rem',
    cell: ({ id }) => <CopyableId value={id} />,
  },
  {
    ...shared('state'),
    priority: 2,
    width: '11rem',
    cell: (axon) => <AxonState axon={axon} />,
  },
  {
    ...shared('metadata'),
    priority: 5,
    cell: ({ metadata }) => (
      <MetadataChips
        max={shownPairs}
        metadata={metadata}
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
  },
  {
    ...shared('created'),
    align: 'right',
    width: '8rem',
    cell: ({ created_at_ms }) => <RelativeTime ms={created_at_ms} />,
  },
  {
    ...shared('deleted'),
    priority: 4,
    align: 'right',
    width: '8rem',
    cell: ({ deleted_at_ms }) => deleted_at_ms != null && <RelativeTime ms={deleted_at_ms} />,
  },
]

const shared = (id: keyof typeof axonColumns.labels) =>
  ({ id, header: axonColumns.labels[id], priority: 3, sortable: true }) as const

/** Pairs of metadata shown as chips; the others are counted. */
const shownPairs = 3
