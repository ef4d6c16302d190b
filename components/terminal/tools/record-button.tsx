import { Circle, CircleStop } from 'lucide-react'
import Link from 'next/link'
import { IconButton } from '#components/ui/icon-button.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { useTerminalState } from '../pane/use-terminal-state.ts'

/** Starts and stops recording. All viewers can see that a recording is running. */
export const RecordButton = ({ opened: { session } }: { opened: OpenedTerminal }) => {
  const { recording, role, connection } = useTerminalState(session)
  const refusal =
    connection.phase !== 'open'
      ? 'The terminal is not connected'
      : role === 'watcher'
        ? 'Another window is typing'
        : null
  return (
    <span className="inline-flex items-center gap-1.5 text-sm text-danger">
      <IconButton
        size="sm"
        icon={recording ? CircleStop : Circle}
        label={recording ? 'Stop recording' : 'Record terminal'}
        disabledReason={refusal}
        onClick={() => session.request({ t: 'record', on: !recording })}
      />
      {recording && (
        <Link href={paths.recording(recording.id)} className="hover:underline">
          Recording
        </Link>
      )}
      {recording?.sinceMs != null && <RelativeTime ms={recording.sinceMs} prefix="since" className="text-muted" />}
    </span>
  )
}
