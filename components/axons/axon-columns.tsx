import { CopyableId } from '#components/ui/copyable-id.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { NameText, VisibleText } from '#components/ui/visible-text.tsx'
import {
  type AxonView,
  axonViewPath,
  type ColumnChoice,
  type ColumnId,
  columnValue,
  type FixedColumn,
  metadataKeyOf,
} from '#lib/console/address/axon-view.ts'
import type { ExportColumn } from '#lib/console/lists/export.ts'
import { withCondition } from '#lib/console/lists/metadata-condition.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { AxonState } from './axon-state.tsx'

/** The columns of the table as they were chosen. */
export const tableColumns = (choices: readonly ColumnChoice[], view: AxonView): Column<Axon>[] =>
  choices.map(({ id, width }) => {
    const column = columnOf(id, view)
    return width ? { ...column, width } : column
  })

const columnOf = (id: ColumnId, view: AxonView): Column<Axon> => {
  const shared = { id, header: columnLabel(id), priority: 3 as const, sortable: true }
  const key = metadataKeyOf(id)
  if (key !== undefined)
    return {
      ...shared,
      header: <VisibleText max={60}>{key}</VisibleText>,
      width: '9rem',
      mono: true,
      cell: ({ metadata }) =>
        Object.hasOwn(metadata, key) && <VisibleText truncate>{metadata[key] as string}</VisibleText>,
    }
  switch (id as FixedColumn) {
    case 'name':
      return {
        ...shared,
        priority: 1,
        cell: ({ name }) => <NameText>{name}</NameText>,
      }
    case 'id':
      return {
        ...shared,
        width: '11.5rem',
        cell: ({ id }) => <CopyableId value={id} />,
      }
    case 'state':
      return {
        ...shared,
        priority: 2,
        width: '11rem',
        cell: (axon) => <AxonState axon={axon} />,
      }
    case 'metadata':
      return {
        ...shared,
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
      }
    case 'created':
      return {
        ...shared,
        align: 'right',
        width: '8rem',
        cell: ({ created_at_ms }) => <RelativeTime ms={created_at_ms} />,
      }
    case 'deleted':
      return {
        ...shared,
        align: 'right',
        width: '8rem',
        cell: ({ deleted_at_ms }) => deleted_at_ms != null && <RelativeTime ms={deleted_at_ms} />,
      }
  }
}

/** Pairs of metadata shown as chips; the others are counted. */
const shownPairs = 3

const labels: Record<FixedColumn, string> = {
  name: 'Name',
  id: 'Id',
  state: 'State',
  metadata: 'Metadata',
  created: 'Created',
  deleted: 'Deleted',
}

export const columnLabel = (id: ColumnId): string => metadataKeyOf(id) ?? labels[id as FixedColumn]

/** The same columns for a file: the service's words and values, times as text where a spreadsheet reads them. */
export const exportColumns = (choices: readonly ColumnChoice[]): ExportColumn<Axon>[] =>
  choices.map(({ id }) => {
    const value = (axon: Axon) => columnValue(axon, id)
    if (id !== 'created' && id !== 'deleted') return { name: id, value }
    return { name: `${id}_at_ms`, value, text: (axon) => toIso(columnValue(axon, id)) }
  })

const toIso = (ms: unknown): string =>
  typeof ms === 'number' && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : ''
