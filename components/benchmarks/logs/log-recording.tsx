import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { RecordingPlayer } from '#components/recordings/recording-player.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { formatBytes } from '#lib/browser/format.ts'
import type { RunLogFile } from '#lib/protocol/run-logs.ts'
import { logTextQuery, maxShownBytes } from './queries.ts'

export const isRecording = ({ path }: Pick<RunLogFile, 'path'>): boolean => /\.cast$/i.test(path)

/** Plays an asciicast of a run's logs. `address` as from `runLogAddress`. */
export const LogRecording = ({ address, file }: { address: string; file: RunLogFile }) => {
  // A file that grows would start over with each new version.
  const [opened] = useState(file)
  const query = useQuery(logTextQuery(address, opened, maxShownBytes))
  if (query.error) return <ErrorState title="The recording could not be loaded" error={query.error} query={query} />
  if (query.data === undefined) return <SkeletonRows columns={3} label="Loading the recording" />
  return (
    <RecordingPlayer
      text={query.data ?? ''}
      autoPlay={false}
      note={
        opened.size_bytes > maxShownBytes &&
        `Plays the first ${formatBytes(maxShownBytes)} of ${formatBytes(opened.size_bytes)}. Download the file for the rest.`
      }
    />
  )
}
