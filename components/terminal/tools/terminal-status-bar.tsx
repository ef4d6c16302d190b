import { Circle, CircleStop, CornerUpLeft, Eye, Keyboard, Users } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode, Ref } from 'react'
import { Keys } from '#components/layout/keys.tsx'
import { Popover } from '#components/ui/popover.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { useShortcutKeys } from '#lib/browser/frame/shortcuts.ts'
import { type OpenedTerminal, useTerminalState, writingRefusal } from '../pane/opened-terminal.ts'
import { BarButton } from './bar-button.tsx'
import { FindButton } from './find-bar.tsx'
import { MoreMenu, type PaneSplitting } from './more-menu.tsx'
import { TerminalLatency } from './terminal-latency.tsx'
import { SettingsButton } from './terminal-settings.tsx'
import { TerminalShare } from './terminal-share.tsx'

interface TerminalStatusBarProps {
  opened: OpenedTerminal
  hintId: string
  /** Receives focus when the user leaves the terminal by keyboard. */
  way: Ref<HTMLButtonElement>
  isFollower: boolean
  split: PaneSplitting | undefined
  actions: ReactNode
}

export const TerminalStatusBar = ({ opened, hintId, way, isFollower, split, actions }: TerminalStatusBarProps) => (
  <div className="flex min-h-9 items-center gap-x-1 border-t border-line bg-surface-1 py-1 pr-1.5 pl-3">
    <LeaveHint id={hintId} />
    <button
      ref={way}
      type="button"
      onClick={opened.focus}
      className="sr-only items-center gap-1 rounded-md text-sm focus:not-sr-only focus:ml-1 focus:inline-flex focus:h-6 focus:px-1.5"
    >
      <CornerUpLeft aria-hidden className="size-3.5" />
      Back to the terminal
    </button>
    <div className="-my-1 flex min-w-0 flex-1 items-center gap-x-0.5 overflow-x-auto py-1 [scrollbar-width:none]">
      <span className="flex-1" />
      <TerminalViewers opened={opened} />
      <TerminalLatency opened={opened} />
      <FindButton opened={opened} />
      {!isFollower && <RecordButton opened={opened} />}
      {!isFollower && <TerminalShare opened={opened} />}
      <SettingsButton opened={opened} />
      <MoreMenu opened={opened} isFollower={isFollower} split={split} />
    </div>
    {actions}
  </div>
)

const LeaveHint = ({ id }: { id: string }) => {
  const keys = useShortcutKeys('terminal.leave')
  return (
    <p id={id} className="hidden min-w-0 items-center gap-1.5 truncate text-sm text-muted @3xl:flex">
      {keys.length > 0 ? (
        <>
          <Keys keys={keys} /> <span className="truncate">to leave the terminal</span>
        </>
      ) : (
        <span className="truncate">No keys are set to leave the terminal</span>
      )}
    </p>
  )
}

/** Starts and stops recording. All viewers can see that a recording is running. */
const RecordButton = ({ opened: { session } }: { opened: OpenedTerminal }) => {
  const state = useTerminalState(session)
  const { recording } = state
  return (
    <span className="inline-flex items-center gap-1.5 text-sm text-danger">
      {recording && (
        <Link href={paths.recording(recording.id)} className="pl-1.5 hover:underline">
          Recording
        </Link>
      )}
      {recording?.sinceMs != null && (
        <RelativeTime ms={recording.sinceMs} prefix="since" className="hidden text-muted @2xl:inline" />
      )}
      <BarButton
        icon={recording ? CircleStop : Circle}
        label={recording ? 'Stop' : 'Record'}
        name={recording ? 'Stop recording' : 'Record terminal'}
        color={recording ? 'text-danger' : undefined}
        needs="/api/terminals"
        disabledReason={writingRefusal(state)}
        onClick={() => session.request({ t: 'record', on: !recording })}
      />
    </span>
  )
}

const TerminalViewers = ({ opened }: { opened: OpenedTerminal }) => {
  const { viewers, you, writer } = useTerminalState(opened.session)
  if (viewers.length < 2) return null
  return (
    <Popover
      label="Viewers of this terminal"
      trigger={
        <BarButton
          icon={Users}
          label="Viewers"
          name={`${viewers.length} viewers of this terminal`}
          figure={viewers.length}
        />
      }
    >
      <ul className="space-y-1.5">
        {viewers.map(({ id, name, follower, since_ms }) => {
          const isWriter = id === writer?.id
          const Icon = isWriter ? Keyboard : Eye
          return (
            <li key={id} className="flex items-start gap-2">
              <Icon aria-hidden className="mt-0.5 size-3.5 shrink-0 text-muted" />
              <div className="min-w-0 flex-1">
                <VisibleText max={60}>{name}</VisibleText>
                {id === you && <span className="text-muted"> (you)</span>}
                <p className="text-sm text-muted">
                  {isWriter ? 'Typing' : follower ? 'Watching by link' : 'Watching'}, joined{' '}
                  <RelativeTime ms={since_ms} />
                </p>
              </div>
            </li>
          )
        })}
      </ul>
    </Popover>
  )
}
