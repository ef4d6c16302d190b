import {
  Activity,
  Circle,
  CircleStop,
  Copy,
  CornerUpLeft,
  Eye,
  FileText,
  Keyboard,
  Link2,
  Link2Off,
  type LucideIcon,
  Power,
  Share2,
  Users,
} from 'lucide-react'
import Link from 'next/link'
import { type ReactNode, type Ref, useEffect, useRef, useState } from 'react'
import { Keys } from '#components/layout/keys.tsx'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { Popover, type PopoverProps } from '#components/ui/popover.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { useCopy } from '#components/ui/use-copy.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { saveText } from '#lib/browser/lists/export.ts'
import { serviceNow } from '#lib/client/clock.ts'
import { terminalText } from '#lib/terminal/page/lines.ts'
import { type OpenedTerminal, useTerminalState, writingRefusal } from '../pane/opened-terminal.ts'
import { CommandMarks } from './command-marks.tsx'
import { FindButton } from './find-bar.tsx'
import { SettingsButton } from './terminal-settings.tsx'

interface TerminalStatusBarProps {
  opened: OpenedTerminal
  hintId: string
  /** Receives focus when the user leaves the terminal by keyboard. */
  way: Ref<HTMLButtonElement>
  isFollower: boolean
  actions: ReactNode
}

export const TerminalStatusBar = ({ opened, hintId, way, isFollower, actions }: TerminalStatusBarProps) => (
  <div className="flex min-h-9 items-center gap-x-1 border-t border-line bg-surface-1 py-1 pr-1.5 pl-3">
    <p id={hintId} className="hidden min-w-0 items-center gap-1.5 truncate text-sm text-muted @2xl:flex">
      <Keys keys={['Ctrl', 'Shift', 'X']} /> <span className="truncate">to leave the terminal</span>
    </p>
    <IconButton ref={way} size="sm" icon={CornerUpLeft} label="Back to the terminal" onClick={opened.focus} />
    <div className="-my-1 flex min-w-0 flex-1 items-center gap-x-1 overflow-x-auto py-1 [scrollbar-width:none]">
      <span className="flex-1" />
      <TerminalViewers opened={opened} />
      <TerminalLatency opened={opened} />
      {!isFollower && <TerminalShare opened={opened} />}
      <RecordButton opened={opened} />
      <CommandMarks opened={opened} />
      <PlainTextView opened={opened} />
      <FindButton opened={opened} />
      <SettingsButton opened={opened} />
      {!isFollower && <EndShell opened={opened} />}
    </div>
    {actions}
  </div>
)

const EndShell = ({ opened }: { opened: OpenedTerminal }) => {
  const refusal = writingRefusal(useTerminalState(opened.session))
  const [isEnding, setIsEnding] = useState(false)
  return (
    <>
      <IconButton size="sm" icon={Power} label="End shell" disabledReason={refusal} onClick={() => setIsEnding(true)} />
      <ConfirmDialog
        open={isEnding}
        onOpenChange={setIsEnding}
        title="End the shell?"
        consequence="Programs running in it will be terminated. The devbox keeps running, and you can start a new shell."
        confirmLabel="End shell"
        onConfirm={() => {
          setIsEnding(false)
          opened.session.request({ t: 'close' })
        }}
      />
    </>
  )
}

/** Starts and stops recording. All viewers can see that a recording is running. */
const RecordButton = ({ opened: { session } }: { opened: OpenedTerminal }) => {
  const state = useTerminalState(session)
  const { recording } = state
  return (
    <span className="inline-flex items-center gap-1.5 text-sm text-danger">
      <IconButton
        size="sm"
        icon={recording ? CircleStop : Circle}
        label={recording ? 'Stop recording' : 'Record terminal'}
        disabledReason={writingRefusal(state)}
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

const TerminalViewers = ({ opened }: { opened: OpenedTerminal }) => {
  const { viewers, you, writer } = useTerminalState(opened.session)
  if (viewers.length < 2) return null
  return (
    <StatusPopover
      label="Viewers of this terminal"
      icon={Users}
      name={`${viewers.length} viewers of this terminal`}
      figure={viewers.length}
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
    </StatusPopover>
  )
}

const staleMs = 12_000

/** Round-trip time of a keystroke, without the shell's own time. */
const TerminalLatency = ({ opened }: { opened: OpenedTerminal }) => {
  const { latency, connection } = useTerminalState(opened.session)
  const isOld = useClock((nowMs) => latency !== null && nowMs - latency.atMs > staleMs)
  if (!latency) return null
  const isStale = isOld || connection.phase !== 'open'
  const { consoleMs, serviceMs, atMs } = latency
  const totalMs = consoleMs + (serviceMs ?? 0)
  const amount = formatMs(totalMs)
  return (
    <StatusPopover
      label="Latency"
      icon={Activity}
      name={isStale ? `Latency ${amount}, not measured now` : `Latency ${amount}`}
      figure={<span className={isStale ? 'line-through' : ''}>{amount}</span>}
    >
      <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1">
        <dt className="text-muted">This page to the console</dt>
        <dd className="tabular text-right">{formatMs(consoleMs)}</dd>
        <dt className="text-muted">The console to the service</dt>
        <dd className="tabular text-right">{serviceMs === null ? 'not reported' : formatMs(serviceMs)}</dd>
      </dl>
      <p className="text-sm text-muted">
        Round trips, the middle of the last five. Measured <RelativeTime ms={atMs} />.
      </p>
    </StatusPopover>
  )
}

const formatMs = (ms: number): string => (ms < 1 ? '<1 ms' : ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`)

const TerminalShare = ({ opened }: { opened: OpenedTerminal }) => {
  const { session } = opened
  const { follow, connection, viewers, problem } = useTerminalState(session)
  const { result, copy } = useCopy('the link')
  const [isAsked, setIsAsked] = useState(false)
  const address = follow && location.origin + follow.path
  const followers = viewers.filter(({ follower }) => follower)
  const count = followers.length

  useEffect(() => {
    if (!isAsked || !address) return
    setIsAsked(false)
    void copy(address)
  }, [isAsked, address, copy])

  return (
    <StatusPopover
      label="Share this terminal"
      className="w-80"
      icon={Share2}
      name={follow ? `Shared: ${formatCountOf(count, 'follower')}` : 'Share'}
      color={follow ? 'text-accent' : undefined}
      figure={follow && count > 0 && count}
    >
      {address ? (
        <>
          <div className="flex items-center gap-1.5">
            <Input
              readOnly
              mono
              aria-label="Link to this terminal"
              value={address}
              onFocus={({ target }) => target.select()}
            />
            <IconButton icon={Copy} label="Copy link" variant="secondary" onClick={() => void copy(address)} />
          </div>
          <p role="status" className="text-sm text-muted">
            {result === 'copied' && 'Copied. '}
            {result === 'refused' && 'The browser blocked copying. '}
            Anyone with the link can watch without signing in, but not type.{' '}
            {follow.expiresAtMs !== null && (
              <>
                It expires <RelativeTime ms={follow.expiresAtMs} />.{' '}
              </>
            )}
            {count === 0 ? 'No viewers.' : `Viewers: ${followers.map(({ name }) => name).join(', ')}.`}
          </p>
          <Button size="sm" icon={Link2Off} onClick={() => session.request({ t: 'follow', on: false })}>
            Revoke link
          </Button>
        </>
      ) : (
        <>
          <p>
            With a link others can watch this terminal without signing in. They see all that is on its screen and
            scrollback, and cannot type.
          </p>
          {isAsked && problem && <p className="text-danger">{problem}</p>}
          <Button
            size="sm"
            icon={Link2}
            disabledReason={connection.phase === 'open' ? null : 'The terminal is not connected'}
            onClick={() => setIsAsked(session.request({ t: 'follow', on: true }))}
          >
            Create and copy link
          </Button>
        </>
      )}
    </StatusPopover>
  )
}

interface StatusPopoverProps extends Omit<PopoverProps, 'trigger'> {
  icon: LucideIcon
  name: string
  color?: string | undefined
  figure?: ReactNode
}

const StatusPopover = ({ icon: Icon, name, color = 'text-muted', figure, ...popover }: StatusPopoverProps) => (
  <Popover
    {...popover}
    trigger={
      <button
        type="button"
        aria-label={name}
        title={name}
        className={classes(
          'tabular inline-flex h-6 shrink-0 items-center gap-1 rounded-md px-1.5 text-sm transition-colors hover:bg-surface-2',
          color,
        )}
      >
        <Icon aria-hidden className="size-3.5 shrink-0" />
        {figure}
      </button>
    }
  />
)

/** A static text snapshot of the terminal for screen readers, browser search and touch selection. */
const PlainTextView = ({ opened }: { opened: OpenedTerminal }) => {
  const [read, setRead] = useState<{ text: string; atMs: number }>()
  const { result, copy } = useCopy('the text')
  const readNow = () => setRead({ text: terminalText(opened.terminal.buffer.active), atMs: serviceNow() })
  return (
    <>
      <IconButton size="sm" icon={FileText} label="View as plain text" onClick={readNow} />
      {read && (
        <Dialog
          open
          onOpenChange={() => setRead(undefined)}
          title="Terminal as plain text"
          size="lg"
          footer={
            <>
              <Button onClick={() => saveText(`terminal-${opened.name}`, 'txt', read.text)}>Download</Button>
              <Button onClick={() => void copy(read.text)}>
                {result === 'copied' ? 'Copied' : result === 'refused' ? 'Copying was blocked' : 'Copy all'}
              </Button>
              <Button variant="primary" onClick={readNow}>
                Refresh
              </Button>
            </>
          }
        >
          <div className="space-y-2">
            <p role="status" className="tabular text-sm text-muted">
              {formatCountOf(read.text.split('\n').length, 'line')}, read <RelativeTime ms={read.atMs} />; the newest at
              the end
            </p>
            <TextArea text={read.text} />
          </div>
        </Dialog>
      )}
    </>
  )
}

const TextArea = ({ text }: { text: string }) => {
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (area.current) area.current.scrollTop = area.current.scrollHeight
  })
  return (
    <textarea
      ref={area}
      readOnly
      aria-label="Terminal text"
      value={text}
      rows={20}
      spellCheck={false}
      className="block w-full resize-y rounded-md border border-line bg-surface-1 p-2 font-mono text-sm whitespace-pre"
    />
  )
}
