'use client'
import { useQuery } from '@tanstack/react-query'
import { Clapperboard, Download, Trash2 } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { type Column, DataTable } from '#components/ui/data-table.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { isPassing } from '#lib/console/api/failures.ts'
import { formatBytes, formatDurationMs, formatShown } from '#lib/console/frame/format.ts'
import { recordingAddress, recordingQueries } from '#lib/console/queries/recordings.ts'
import { type Recording, titleOf } from '#lib/wire/recordings.ts'
import { DeleteRecording } from './delete-recording.tsx'

export const RecordingList = () => (
  <>
    <PageHeader title="Recordings" />
    <Recordings />
  </>
)

const Recordings = () => {
  const list = useQuery(recordingQueries.list())
  const error = useShownError(list)
  if (!list.data)
    return error ? (
      <ErrorState
        title="The recordings could not be loaded"
        error={error}
        recovers={isPassing(error)}
        retrying={list.isFetching}
        onRetry={() => void list.refetch()}
      />
    ) : (
      <SkeletonRows columns={5} label="Loading recordings" />
    )
  const { recordings } = list.data
  if (recordings.length === 0)
    return (
      <EmptyState
        icon={Clapperboard}
        title="No recordings yet"
        action={<ButtonLink href={paths.devboxes()}>All devboxes</ButtonLink>}
      >
        A recording keeps what a terminal showed, to be played again here or with asciinema. It is started with the
        record button of a terminal.
      </EmptyState>
    )
  return (
    <>
      <p role="status" className="tabular flex min-h-8 items-center text-sm text-muted">
        {formatShown(recordings.length, false, recordings.length)}
      </p>
      <RecordingTable recordings={recordings} />
    </>
  )
}

const RecordingTable = ({ recordings }: { recordings: readonly Recording[] }) => {
  const [deleting, setDeleting] = useState<Recording>()
  return (
    <>
      <DataTable
        caption="Recordings of terminals, newest first"
        columns={columns}
        rows={recordings}
        rowKey={({ id }) => id}
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
              disabledReason={recording.live ? 'It is being written: stop it in its terminal first' : null}
              onClick={() => setDeleting(recording)}
            />
          </>
        )}
      />
      {deleting && <DeleteRecording recording={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  )
}

const columns: Column<Recording>[] = [
  {
    id: 'title',
    header: 'Terminal',
    priority: 1,
    cell: (recording) => (
      <span className="flex min-w-0 items-center gap-2">
        <VisibleText truncate>{titleOf(recording)}</VisibleText>
        {recording.live && <Recorded />}
      </span>
    ),
  },
  {
    id: 'devbox',
    header: 'Devbox',
    priority: 3,
    mono: true,
    width: '12rem',
    cell: ({ devbox_id: id }) => (
      <Link href={paths.devbox(id, 'terminal')} title={id} className="relative z-1 hover:underline">
        {shortenMiddle(id, 18)}
      </Link>
    ),
  },
  {
    id: 'length',
    header: 'Length',
    priority: 2,
    align: 'right',
    width: '8rem',
    cell: ({ duration_ms }) =>
      duration_ms === null ? (
        <span className="text-muted">unknown</span>
      ) : (
        <span className="tabular">{formatDurationMs(duration_ms)}</span>
      ),
  },
  {
    id: 'size',
    header: 'Size',
    priority: 3,
    align: 'right',
    width: '7rem',
    cell: ({ size_bytes }) => <span className="tabular">{formatBytes(size_bytes)}</span>,
  },
  {
    id: 'screen',
    header: 'Screen',
    priority: 3,
    align: 'right',
    width: '7rem',
    cell: ({ cols, rows }) => (
      <span className="tabular" title={`${cols} columns, ${rows} rows when it began`}>
        {cols} × {rows}
      </span>
    ),
  },
  {
    id: 'started',
    header: 'Started',
    priority: 3,
    align: 'right',
    width: '7rem',
    cell: ({ start_time_ms }) => <RelativeTime ms={start_time_ms} />,
  },
]

export const Recorded = () => <Badge tone="danger">Recording</Badge>
