'use client'
import { useMutation } from '@tanstack/react-query'
import { Clapperboard, Download, Trash2 } from 'lucide-react'
import { useState } from 'react'
import * as z from 'zod/mini'
import type { Column } from '#components/list/column.ts'
import { DevboxLink, devboxColumn, timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useListQuery } from '#components/list/use-list-query.ts'
import { ListTools, ViewMenu } from '#components/list/view-menu.tsx'
import { Badge } from '#components/ui/badge.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatBytes, formatDurationMs } from '#lib/browser/format.ts'
import { type Recording, titleOf } from '#lib/protocol/recordings.ts'
import { recordingAddress, recordingMutations, recordingQueries } from './queries.ts'

const devboxOf = devboxColumn<Recording>('devbox_id', 'terminal')

const columns: Column<Recording>[] = [
  {
    accessorFn: titleOf,
    id: 'title',
    header: 'Terminal',
    cell: ({ row: { original: recording } }) => (
      <span className="flex min-w-0 items-center gap-2">
        <VisibleText truncate>{titleOf(recording)}</VisibleText>
        {recording.live && <Recorded />}
      </span>
    ),
    meta: { priority: 1 },
  },
  {
    ...devboxOf,
    accessorFn: ({ devbox_name, devbox_id }) => devbox_name || devbox_id,
    cell: ({ row: { original: recording } }) => (
      <span className="flex min-w-0 items-baseline gap-x-2 max-sm:flex-wrap">
        {recording.devbox_name && (
          <VisibleText truncate className="font-sans text-base">
            {recording.devbox_name}
          </VisibleText>
        )}
        <span className="shrink-0">{<DevboxLink id={recording.devbox_id} tab="terminal" />}</span>
      </span>
    ),
    meta: { ...devboxOf.meta, priority: 2, width: '16rem' },
  },
  {
    accessorKey: 'duration_ms',
    id: 'length',
    header: 'Length',
    cell: ({ row }) =>
      row.original.duration_ms === null ? (
        <span className="text-muted">Unknown</span>
      ) : (
        <span className="tabular">{formatDurationMs(row.original.duration_ms)}</span>
      ),
    meta: { priority: 3, align: 'right', width: '8rem' },
  },
  {
    accessorKey: 'size_bytes',
    id: 'size',
    header: 'Size',
    cell: ({ row }) => <span className="tabular">{formatBytes(row.original.size_bytes)}</span>,
    meta: { priority: 4, align: 'right', width: '7rem' },
  },
  {
    accessorFn: ({ cols, rows }) => cols * rows,
    id: 'screen',
    header: 'Screen',
    cell: ({ row }) => {
      const { cols, rows } = row.original
      return (
        <span className="tabular" title={`${cols} columns, ${rows} rows at the start`}>
          {cols} × {rows}
        </span>
      )
    },
    meta: { priority: 5, align: 'right', width: '7rem' },
  },
  timeColumn('start_time_ms', 'Started'),
]

const source = {
  noun: 'recording',
  nouns: 'recordings',
  params: z.object({ sort: z.optional(z.string()) }),
  path: paths.recordings,
  columns,
  queryOf: () => ({}),
  list: () => recordingQueries.list(),
  filters: {},
}

export const RecordingList = () => {
  const list = useListQuery(source)
  const [deleting, setDeleting] = useState<Recording>()
  return (
    <>
      <ListPage
        title="Recordings"
        list={list}
        tools={
          <ListTools>
            <ViewMenu list={list} />
          </ListTools>
        }
        empty={
          <EmptyState
            icon={Clapperboard}
            title="No recordings yet"
            action={<ButtonLink href={paths.devboxes()}>All devboxes</ButtonLink>}
          >
            A recording captures the output of a terminal. Start one with the Record button in a terminal, and play it
            here or with asciinema.
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption="Terminal recordings"
          columns={columns}
          rowHref={({ id }) => paths.recording(id)}
          rowActions={(recording) => (
            <>
              <ButtonLink
                size="sm"
                variant="ghost"
                icon={Download}
                href={recordingAddress(recording.id)}
                aria-label={`Download ${titleOf(recording)}`}
                prefetch={false}
                download
              />
              <IconButton
                size="sm"
                icon={Trash2}
                label={`Delete ${titleOf(recording)}`}
                needs="/api/recordings"
                disabledReason={recording.live ? 'stop the recording in its terminal first' : null}
                onClick={() => setDeleting(recording)}
              />
            </>
          )}
        />
      </ListPage>
      {deleting && (
        <DeleteRecording recording={deleting} onClose={() => setDeleting(undefined)} onDeleted={list.release} />
      )}
    </>
  )
}

export const Recorded = () => <Badge tone="danger">Recording</Badge>

interface DeleteRecordingProps {
  recording: Recording
  onClose: () => void
  onDeleted?: () => void
}

export const DeleteRecording = ({ recording, onClose, onDeleted }: DeleteRecordingProps) => {
  const remove = useMutation(recordingMutations.delete())
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Delete recording?"
      consequence={
        <>
          <p className="font-medium">
            <VisibleText max={120}>{titleOf(recording)}</VisibleText>
          </p>
          <p>{formatBytes(recording.size_bytes)} of terminal output will be deleted permanently.</p>
        </>
      }
      needs="/api/recordings"
      confirmLabel="Delete recording"
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(recording.id, {
          onSuccess: () => {
            onClose()
            onDeleted?.()
          },
        })
      }
    />
  )
}
