'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Box, Camera, Pencil, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useMemo, useState } from 'react'
import { CodeSample } from '#components/layout/code-samples.tsx'
import type { Column } from '#components/list/column.ts'
import { devboxColumn, idColumn, metadataColumn, timeColumn } from '#components/list/columns.tsx'
import { DataTable, type DataTableProps } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import type { BulkAction } from '#components/list/selection-bar.tsx'
import { useColumns } from '#components/list/use-columns.ts'
import { useListQuery } from '#components/list/use-list-query.ts'
import { useSheet } from '#components/list/use-sheet.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { cutEnd } from '#components/ui/text.ts'
import { NameText, VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { snapshotMatches } from '#lib/browser/lists/row-filters.ts'
import { deleteRefusal, type Snapshot, type SnapshotListQuery } from '#lib/contract/snapshots.ts'
import { snapshotMutations, snapshotQueries } from './queries.ts'
import { SnapshotSearchParams, snapshotMatchesSearch, snapshotQueryOf } from './search-params.ts'
import { SnapshotSize } from './snapshot-size.tsx'
import { useSnapshotStatus } from './use-snapshot-status.ts'

const CreateDevboxDialog = dynamic(
  async () => (await import('#components/devboxes/create/create-devbox-dialog.tsx')).CreateDevboxDialog,
)
const ConfirmDialog = dynamic(async () => (await import('#components/ui/confirm-dialog.tsx')).ConfirmDialog)
const SnapshotSheet = dynamic(async () => (await import('./snapshot-sheet.tsx')).SnapshotSheet)
const SnapshotDialog = dynamic(async () => (await import('./snapshot-dialog.tsx')).SnapshotDialog)

const columnsFor = (query: Partial<SnapshotListQuery>, onShow: (id: string) => void): Column<Snapshot>[] => [
  {
    accessorKey: 'name',
    id: 'name',
    header: 'Name',
    cell: ({ row }) => <Name snapshot={row.original} onShow={onShow} />,
    meta: {
      priority: 1,
      lines: ({ commit_message }) => (commit_message ? 2 : 1),
      export: { name: ({ name }) => name, commit_message: ({ commit_message }) => commit_message },
    },
  },
  {
    accessorKey: 'size_bytes',
    id: 'size',
    header: 'Size',
    cell: ({ row }) => <SnapshotSize snapshot={row.original} />,
    meta: { priority: 2, align: 'right', width: '8rem' },
  },
  idColumn(),
  ...(query.devbox_id ? [] : [devboxColumn<Snapshot>('source_devbox_id', 'snapshots')]),
  metadataColumn(query, paths.snapshots),
  timeColumn('create_time_ms', 'Created'),
]

const source = {
  noun: 'snapshot',
  nouns: 'snapshots',
  params: SnapshotSearchParams,
  path: paths.snapshots,
  endpoint: 'snapshots.list',
  columns: columnsFor({}, () => undefined),
  queryOf: snapshotQueryOf,
  list: (query: SnapshotListQuery) => snapshotQueries.list(query),
  matches: snapshotMatches,
  arrange: (rows: readonly Snapshot[], { search }: SnapshotSearchParams) =>
    search ? rows.filter((row) => snapshotMatchesSearch(row, search)) : rows,
  filters: {
    search: 'ID, name or message contains …',
    devbox_id: 'devbox is …',
    source_blueprint_id: 'blueprint is …',
  },
}

interface SnapshotListProps {
  serviceUrl: string
  savedColumns: string
}

export const SnapshotList = ({ serviceUrl, savedColumns }: SnapshotListProps) => {
  const list = useListQuery(source)
  const sheet = useSheet('snapshot')
  const columns = useColumns(
    useMemo(() => columnsFor(list.params, sheet.show), [list.params, sheet.show]),
    list,
    'snapshotColumns',
    savedColumns,
  )
  const client = useQueryClient()
  const remove = useMutation(snapshotMutations.delete())
  const deleteSnapshots: BulkAction<Snapshot> = {
    icon: Trash2,
    verb: 'Delete',
    needs: 'snapshots.delete',
    done: 'Deleted',
    failed: "Couldn't delete every snapshot",
    consequence: (count) => `Deletes ${count}. Devboxes created from them keep their disks.`,
    isDestructive: true,
    // Rows without a size have read the status.
    isEligible: ({ id, size_bytes }) =>
      size_bytes != null || client.getQueryData(snapshotQueries.status(id).queryKey)?.status === 'complete',
    act: async ({ id }) => {
      await remove.mutateAsync(id)
      list.release()
    },
  }
  return (
    <ListPage
      title="Snapshots"
      list={list}
      bulk={[deleteSnapshots]}
      filters={
        <FilterBar
          list={list}
          search="Search name, message or ID"
          metadata={{ keys: snapshotQueries.metadataKeys() }}
        />
      }
      tools={
        <ListMenus
          source={source}
          list={list}
          columns={columns}
          call={{ path: '/v1/devboxes/disk_snapshots', method: 'devboxes.diskSnapshots.list' }}
          metadataKeys={snapshotQueries.metadataKeys()}
          serviceUrl={serviceUrl}
        />
      }
      empty={
        <EmptyState
          icon={Camera}
          title="No snapshots yet"
          action={<ButtonLink href={paths.devboxes()}>All devboxes</ButtonLink>}
          sample={
            <CodeSample
              serviceUrl={serviceUrl}
              call={{
                path: '/v1/devboxes/DEVBOX_ID/snapshot_disk',
                method: 'devboxes.snapshotDisk',
                id: 'DEVBOX_ID',
                body: { name: 'after-setup' },
                result: 'snapshot',
              }}
            />
          }
        >
          A snapshot is a copy of a devbox's disk. Take one from a devbox's page, and create new devboxes from it.
        </EmptyState>
      }
    >
      <SnapshotTable
        {...list.table}
        columns={columns.shown}
        onResize={columns.resize}
        selection={{ ...list.selection, labelOf: ({ id, name }) => `Select ${name || id}` }}
        onNearEnd={list.onNearEnd}
        sheet={sheet}
        onDeleted={list.release}
      />
    </ListPage>
  )
}

interface SnapshotTableProps extends Omit<DataTableProps<Snapshot>, 'caption' | 'rowActions'> {
  sheet: ReturnType<typeof useSheet>
  onDeleted?: () => void
}

const SnapshotTable = ({ sheet, onDeleted, ...table }: SnapshotTableProps) => {
  const [starting, setStarting] = useState<Snapshot>()
  const [editing, setEditing] = useState<Snapshot>()
  const [deleting, setDeleting] = useState<Snapshot>()
  const remove = useMutation(snapshotMutations.delete())
  return (
    <>
      <DataTable
        {...table}
        caption="Disk snapshots"
        rowActions={(snapshot) => (
          <RowActions
            snapshot={snapshot}
            onCreate={() => setStarting(snapshot)}
            onEdit={() => setEditing(snapshot)}
            onDelete={() => {
              remove.reset()
              setDeleting(snapshot)
            }}
          />
        )}
      />
      {sheet.id !== null && (
        <SnapshotSheet
          key={sheet.id}
          id={sheet.id}
          listed={table.rows.find(({ id }) => id === sheet.id)}
          onCreate={setStarting}
          onEdit={setEditing}
          onClose={sheet.close}
        />
      )}
      {starting && <CreateDevboxDialog open snapshot={starting} onOpenChange={() => setStarting(undefined)} />}
      {editing && <SnapshotDialog snapshot={editing} onClose={() => setEditing(undefined)} />}
      {deleting && (
        <ConfirmDialog
          open
          onOpenChange={(open) => !open && setDeleting(undefined)}
          title="Delete snapshot?"
          consequence={
            <>
              <p className="font-medium">
                <VisibleText max={120}>{deleting.name || deleting.id}</VisibleText>
              </p>
              <p>Devboxes created from it keep their disks.</p>
            </>
          }
          needs="snapshots.delete"
          confirmLabel="Delete snapshot"
          busy={remove.isPending}
          error={remove.error}
          onConfirm={() =>
            remove.mutate(deleting.id, {
              onSuccess: () => {
                setDeleting(undefined)
                onDeleted?.()
              },
            })
          }
        />
      )}
    </>
  )
}

interface RowActionsProps {
  snapshot: Snapshot
  onCreate: () => void
  onEdit: () => void
  onDelete: () => void
}

const RowActions = ({ snapshot, onCreate, onEdit, onDelete }: RowActionsProps) => {
  const status = useSnapshotStatus(snapshot)
  const name = snapshot.name || snapshot.id
  return (
    <>
      <IconButton
        size="sm"
        icon={Box}
        label={`Create devbox from ${name}`}
        needs="devboxes.create"
        disabledReason={status === 'complete' ? null : 'the snapshot is not complete'}
        onClick={onCreate}
      />
      <IconButton size="sm" icon={Pencil} label={`Edit ${name}`} needs="snapshots.update" onClick={onEdit} />
      <IconButton
        size="sm"
        icon={Trash2}
        label={`Delete ${name}`}
        needs="snapshots.delete"
        disabledReason={status === 'complete' ? null : deleteRefusal(status ?? 'in_progress')}
        onClick={onDelete}
      />
    </>
  )
}

/** The table of one devbox's snapshots. */
export const DevboxSnapshotTable = ({
  devboxId,
  ...table
}: { devboxId: string } & Pick<DataTableProps<Snapshot>, 'rows' | 'busy'>) => {
  const sheet = useSheet('snapshot')
  const columns = useMemo(() => columnsFor({ devbox_id: devboxId }, sheet.show), [devboxId, sheet.show])
  return <SnapshotTable {...table} order="newest first" rowKey={({ id }) => id} columns={columns} sheet={sheet} />
}

const Name = ({
  snapshot: { id, name, commit_message },
  onShow,
}: {
  snapshot: Snapshot
  onShow: (id: string) => void
}) => (
  <>
    <button
      type="button"
      aria-haspopup="dialog"
      onClick={() => onShow(id)}
      className="block min-h-6 max-w-full truncate text-left hover:underline"
    >
      <NameText>{name}</NameText>
    </button>
    {commit_message && (
      <span
        title={cutEnd(commit_message, 1000)}
        className="line-clamp-2 pb-0.5 text-xs leading-4 font-normal text-muted"
      >
        <VisibleText max={200}>{commit_message}</VisibleText>
      </span>
    )}
  </>
)
