'use client'
import { useQuery } from '@tanstack/react-query'
import { Download, SearchX, Trash2 } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useMemo, useState } from 'react'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { isMissing, isPassing } from '#lib/console/api/failures.ts'
import { formatBytes } from '#lib/console/frame/format.ts'
import { maxPlayedBytes, recordingAddress, recordingQueries } from '#lib/console/queries/recordings.ts'
import { parseCast } from '#lib/terminal/recording/asciicast.ts'
import { type Recording, titleOf } from '#lib/wire/recordings.ts'
import { DeleteRecording } from './delete-recording.tsx'
import { Recorded } from './recording-list.tsx'
import { RecordingPlayer } from './recording-player.tsx'

export const RecordingDetail = ({ id }: { id: string }) => {
  const recording = useQuery(recordingQueries.get(id))
  if (recording.data)
    return (
      <>
        <Header recording={recording.data} />
        {recording.data.size_bytes > maxPlayedBytes ? <TooLong recording={recording.data} /> : <Played id={id} />}
      </>
    )
  if (isMissing(recording.error)) return <RecordingMissing />
  return recording.error ? (
    <ErrorState
      title="The recording could not be loaded"
      error={recording.error}
      recovers={isPassing(recording.error)}
      retrying={recording.isFetching}
      onRetry={() => void recording.refetch()}
      action={<ButtonLink href={paths.recordings()}>All recordings</ButtonLink>}
    />
  ) : (
    <SkeletonRows columns={3} label="Loading the recording" />
  )
}

const RecordingMissing = () => (
  <EmptyState
    icon={SearchX}
    title="There is no recording with this id"
    titleAs="h1"
    action={<ButtonLink href={paths.recordings()}>All recordings</ButtonLink>}
  >
    It may have been deleted, it may belong to another account, or the address may be mistyped.
  </EmptyState>
)

const Header = ({ recording }: { recording: Recording }) => {
  const router = useRouter()
  const [isDeleting, setIsDeleting] = useState(false)
  const { id, devbox_id, live, size_bytes, start_time_ms } = recording
  return (
    <>
      <PageHeader
        title={<VisibleText max={200}>{titleOf(recording)}</VisibleText>}
        id={id}
        badge={live && <Recorded />}
        back={{ href: paths.recordings(), label: 'All recordings' }}
        actions={
          <>
            <ButtonLink href={paths.devbox(devbox_id, 'terminal')}>Devbox</ButtonLink>
            <ButtonLink icon={Download} href={recordingAddress(id)} prefetch={false} download>
              Download
            </ButtonLink>
            <Button
              icon={Trash2}
              disabledReason={live ? 'It is being written: stop it in its terminal first' : null}
              onClick={() => setIsDeleting(true)}
            >
              Delete
            </Button>
          </>
        }
      >
        <p className="text-muted">
          <RelativeTime ms={start_time_ms} prefix="Recorded" />, {formatBytes(size_bytes)}
          {live && '. It is still being written: what is played ends where it was when this page was opened'}
        </p>
      </PageHeader>
      {isDeleting && (
        <DeleteRecording
          recording={recording}
          onClose={() => setIsDeleting(false)}
          onDeleted={() => router.push(paths.recordings())}
        />
      )}
    </>
  )
}

const Played = ({ id }: { id: string }) => {
  const file = useQuery(recordingQueries.file(id))
  const cast = useMemo(() => (file.data === undefined ? undefined : attempt(() => parseCast(file.data))), [file.data])
  if (file.error)
    return (
      <ErrorState
        title="The recording could not be loaded"
        error={file.error}
        retrying={file.isFetching}
        onRetry={() => void file.refetch()}
      />
    )
  if (!cast) return <SkeletonRows columns={3} label="Loading the recording" />
  if (cast instanceof Error) return <ErrorState title="The recording cannot be played" error={cast} />
  return <RecordingPlayer cast={cast} />
}

const TooLong = ({ recording: { id, size_bytes } }: { recording: Recording }) => (
  <EmptyState
    icon={Download}
    title="Too long to be played here"
    action={
      <ButtonLink icon={Download} href={recordingAddress(id)} prefetch={false} download>
        Download
      </ButtonLink>
    }
    command={`asciinema play ${id}.cast`}
  >
    It has {formatBytes(size_bytes)}; this page plays up to {formatBytes(maxPlayedBytes)}. asciinema plays the file in a
    terminal.
  </EmptyState>
)

const attempt = <T,>(run: () => T): T | Error => {
  try {
    return run()
  } catch (error) {
    return error as Error
  }
}
