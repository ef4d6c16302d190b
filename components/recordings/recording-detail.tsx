'use client'
import { useQuery } from '@tanstack/react-query'
import { Download, Trash2 } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { DetailPage } from '#components/layout/detail-page.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatBytes } from '#lib/browser/format.ts'
import { type Recording, titleOf } from '#lib/protocol/recordings.ts'
import { maxPlayedBytes, recordingAddress, recordingQueries } from './queries.ts'
import { DeleteRecording, Recorded } from './recording-list.tsx'
import { RecordingPlayer } from './recording-player.tsx'

export const RecordingDetail = ({ id }: { id: string }) => (
  <DetailPage kind="recording" query={useQuery(recordingQueries.get(id))} nameOf={titleOf}>
    {(recording) => (
      <>
        <Header recording={recording} />
        {recording.size_bytes > maxPlayedBytes ? <TooLong recording={recording} /> : <Played id={id} />}
      </>
    )}
  </DetailPage>
)

const Header = ({ recording }: { recording: Recording }) => {
  const router = useRouter()
  const [isDeleting, setIsDeleting] = useState(false)
  const { id, devbox_id, devbox_name, live, size_bytes, start_time_ms } = recording
  return (
    <>
      <PageHeader
        title={titleOf(recording)}
        id={id}
        badge={live && <Recorded />}
        actions={
          <>
            <ButtonLink href={paths.devbox(devbox_id, 'terminal')}>Open devbox</ButtonLink>
            <ButtonLink icon={Download} href={recordingAddress(id)} prefetch={false} download>
              Download
            </ButtonLink>
            <Button
              icon={Trash2}
              needs="/api/recordings"
              disabledReason={live ? 'Still recording. Stop it in its terminal first' : null}
              onClick={() => setIsDeleting(true)}
            >
              Delete recording
            </Button>
          </>
        }
      >
        <p className="text-muted">
          <RelativeTime ms={start_time_ms} prefix="Recorded" />
          {devbox_name && (
            <>
              {' '}
              in <VisibleText max={200}>{devbox_name}</VisibleText>
            </>
          )}
          , {formatBytes(size_bytes)}
          {live && '. Still recording: playback ends at the point where you opened this page'}
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
  if (file.error) return <ErrorState title="The recording could not be loaded" error={file.error} query={file} />
  if (file.data === undefined) return <SkeletonRows columns={3} label="Loading the recording" />
  return <RecordingPlayer text={file.data} />
}

const TooLong = ({ recording: { id, size_bytes } }: { recording: Recording }) => (
  <EmptyState
    icon={Download}
    title="Too large to play here"
    action={
      <ButtonLink icon={Download} href={recordingAddress(id)} prefetch={false} download>
        Download
      </ButtonLink>
    }
    command={`asciinema play ${id}.cast`}
  >
    The recording is {formatBytes(size_bytes)}; this page plays up to {formatBytes(maxPlayedBytes)}. Download it and
    play it with asciinema.
  </EmptyState>
)
