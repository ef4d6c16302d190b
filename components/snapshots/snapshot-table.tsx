'use client'
import { useMutation } from '@tanstack/react-query'
import { Box, Pencil, Trash2 } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { chosenColumns } from '#components/list/chosen-columns.tsx'
import type { Column } from '#components/list/column.ts'
import { devboxColumn, idColumn, metadataColumn, timeColumn } from '#components/list/columns.tsx'
import { DataTable, type DataTableProps } from '#components/list/data-table.tsx'
import type { ChosenColumns } from '#components/list/use-columns.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { cutEnd } from '#components/ui/text.ts'
import { NameText, VisibleText } from '#components/ui/visible-text.tsx'
import { snapshotColumns } from '#lib/browser/address/columns/snapshot-columns.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { deleteRefusal, type Snapshot, type SnapshotListQuery } from '#lib/contract/snapshots.ts'
import { snapshotMutations } from './queries.ts'
import { SnapshotSize } from './snapshot-size.tsx'
import { useShownSnapshot } from './use-shown-snapshot.ts'

const CreateDevboxDialog = loadOnUse(
  async () => (await import('#components/devboxes/create/create-devbox-dialog.tsx')).CreateDevboxDialog,
)
const ConfirmDialog = loadOnUse(async () => (await import('#components/ui/confirm-dialog.tsx')).ConfirmDialog)
const SnapshotSheet = loadOnUse(async () => (await import('./snapshot-sheet.tsx')).SnapshotSheet)
const SnapshotDialog = loadOnUse(async () => (await import('./snapshot-dialog.tsx')).SnapshotDialog)

interface SnapshotTableProps
  extends Pick<DataTableProps<Snapshot>, 'rows' | 'busy' | 'inView' | 'selection' | 'onNearEnd'> {
  query: Partial<SnapshotListQuery>
  /** Absent: all there are. */
  chosen?: ChosenColumns
  onDeleted?: (id: string) => void
}

/** The snapshots with what can be done to them. */
export const SnapshotTable = ({ query, chosen, onDeleted, ...table }: SnapshotTableProps) => {
  const { rows } = table
  const [starting, setStarting] = useState<Snapshot>()
  const [editing, setEditing] = useState<Snapshot>()
  const [deleting, setDeleting] = useState<Snapshot>()
  const remove = useMutation(snapshotMutations.delete())
  const shown = useShownSnapshot()
  const choices = chosen?.choices
  const columns = useMemo(() => {
    const all = columnsFor(query, shown.show)
    return chosenColumns(choices ?? null, snapshotColumns, all)
  }, [query, shown.show, choices])
  return (
    <>
      <DataTable
        caption="Disk snapshots, newest first"
        columns={columns}
        onResize={chosen?.onResize}
        {...table}
        rowKey={({ id }) => id}
        rowActions={(snapshot) => {
          const name = snapshot.name || snapshot.id
          const isReady = snapshot.size_bytes != null
          return (
            <>
              <IconButton
                size="sm"
                icon={Box}
                label={`Create devbox from ${name}`}
                disabledReason={isReady ? null : 'The snapshot is not complete'}
                onClick={() => setStarting(snapshot)}
              />
              <IconButton size="sm" icon={Pencil} label={`Edit ${name}`} onClick={() => setEditing(snapshot)} />
              <IconButton
                size="sm"
                icon={Trash2}
                label={`Delete ${name}`}
                disabledReason={isReady ? null : deleteRefusal('in_progress')}
                onClick={() => {
                  remove.reset()
                  setDeleting(snapshot)
                }}
              />
            </>
          )
        }}
      />
      {shown.id !== null && (
        <SnapshotSheet
          key={shown.id}
          id={shown.id}
          listed={rows.find(({ id }) => id === shown.id)}
          onCreate={setStarting}
          onEdit={setEditing}
          onClose={shown.close}
        />
      )}
      {starting && <CreateDevboxDialog open snapshot={starting} onOpenChange={() => setStarting(undefined)} />}
      {editing && <SnapshotDialog snapshot={editing} onClose={() => setEditing(undefined)} />}
      {deleting && (
        <ConfirmDialog
          open
          onOpenChange={(open) => !open && setDeleting(undefined)}
          cancelLabel="Keep it as it is"
          title="Delete snapshot?"
          consequence={
            <>
              <p className="font-medium">
                <VisibleText max={120}>{deleting.name || deleting.id}</VisibleText>
              </p>
              <p>The copy of the disk is deleted. Devboxes that were created from it keep theirs.</p>
            </>
          }
          confirmLabel="Delete snapshot"
          busy={remove.isPending}
          error={remove.error}
          onConfirm={() =>
            remove.mutate(deleting.id, {
              onSuccess: () => {
                setDeleting(undefined)
                onDeleted?.(deleting.id)
              },
            })
          }
        />
      )}
    </>
  )
}

const columnsFor = (query: Partial<SnapshotListQuery>, onShow: (id: string) => void): Column<Snapshot>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: ({ row }) => {
      const { id, name, commit_message } = row.original
      return <Named name={name} message={commit_message} onShow={() => onShow(id)} />
    },
    meta: { priority: 1, lines: ({ commit_message }) => (commit_message ? 2 : 1) },
  },
  {
    id: 'size',
    header: 'Size',
    cell: ({ row: { original: snapshot } }) => <SnapshotSize snapshot={snapshot} />,
    meta: { priority: 2, align: 'right', width: '8rem' },
  },
  idColumn(),
  ...(query.devbox_id ? [] : [devboxColumn<Snapshot>('snapshots', ({ source_devbox_id }) => source_devbox_id)]),
  metadataColumn(query, paths.snapshots),
  timeColumn('Created', ({ create_time_ms }) => create_time_ms),
]

interface NamedProps {
  name: Snapshot['name']
  message: Snapshot['commit_message']
  onShow: () => void
}

const Named = ({ name, message, onShow }: NamedProps): ReactNode => (
  <>
    <button
      type="button"
      aria-haspopup="dialog"
      onClick={onShow}
      className="block min-h-6 max-w-full truncate text-left hover:underline"
    >
      <NameText>{name}</NameText>
    </button>
    {message && (
      <span title={cutEnd(message, 1000)} className="line-clamp-2 pb-0.5 text-xs leading-4 font-normal text-muted">
        <VisibleText max={200}>{message}</VisibleText>
      </span>
    )}
  </>
)
