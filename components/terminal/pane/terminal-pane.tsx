'use client'
import { useQuery } from '@tanstack/react-query'
import { CircleAlert, Eye, Keyboard, Send, Timer, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react'
import { evictionOf, isOverdue, timeLeftMs } from '#components/alerts/alert-feed.ts'
import { Countdown } from '#components/alerts/countdown.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { useRefusal } from '#components/ui/refusals.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import { describeExit } from '#lib/browser/frame/exit-status.ts'
import { useMedia } from '#lib/browser/frame/use-media.ts'
import type { TerminalState } from '#lib/terminal/page/page-terminal.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import { maxUnsentBytes, typedSigns } from '#lib/terminal/page/typed-input.ts'
import { Clipboard } from '../tools/clipboard.tsx'
import { ClipboardAccess } from '../tools/clipboard-access.tsx'
import { CommandMarks } from '../tools/command-marks.tsx'
import { FileDrop } from '../tools/file-drop-zone.tsx'
import { FindBar } from '../tools/find-bar.tsx'
import type { PaneSplitting } from '../tools/more-menu.tsx'
import { TerminalLinks } from '../tools/terminal-links.tsx'
import { TerminalReset } from '../tools/terminal-reset.tsx'
import { useFontSize } from '../tools/terminal-settings.tsx'
import { TerminalStatusBar } from '../tools/terminal-status-bar.tsx'
import { ConnectionNotice, NoticeBar } from './connection-notice.tsx'
import { type OpenedTerminal, useOpenedTerminal, useTerminalState, writingRefusal } from './opened-terminal.ts'
import {
  type PaneStatus,
  useCursorInSight,
  usePaneAttributes,
  usePaneFocus,
  usePaneStatus,
  usePaneTitle,
  useReconnecting,
} from './use-pane-wiring.ts'

const KeyBar = dynamic(async () => (await import('../tools/key-bar.tsx')).KeyBar)

interface TerminalPaneProps {
  devboxId: string
  name: string
  followToken?: string
  isActive: boolean
  /** Hidden panes keep their connection but don't resize or draw; never visible ones have no connection yet. */
  isVisible: boolean
  /** Why the devbox can't open a shell; null while it runs. Changing to null reconnects. */
  refusal: string | null
  revive?: ReactNode
  /** The console reports that the devbox isn't running, which the page may not know yet. */
  onNotRunning: () => void
  /** Title set by a program in the devbox: untrusted, plain text only. */
  onTitle: (title: string) => void
  onStatus: (status: PaneStatus) => void
  onFocus: () => void
  onClose: () => void
  /** Splits this pane; undefined where there are no splits. */
  split?: PaneSplitting | undefined
  actions?: ReactNode
}

/** One terminal of a devbox. The shell outlives this view and is found again by name. */
export const TerminalPane = (props: TerminalPaneProps) => {
  const { devboxId, name, followToken, isVisible, refusal, revive, onClose, split, actions } = props
  const pane = useRef<HTMLDivElement>(null)
  const screen = useRef<HTMLElement>(null)
  const way = useRef<HTMLButtonElement>(null)
  const hintId = useId()
  const mayType = useRefusal('/api/terminals') === null && followToken === undefined
  const { opened, failure, tryAgain } = useOpenedTerminal(pane, screen, { devboxId, name, followToken, isVisible })
  const isFollower = followToken !== undefined
  return (
    <div
      ref={pane}
      className="@container flex h-full min-h-0 min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-surface-0"
    >
      {opened && <WatchingBar opened={opened} isFollower={isFollower} mayType={mayType} />}
      <div className="relative min-h-0 flex-1">
        <section ref={screen} aria-label={`Terminal ${name}`} data-takes-keys className="terminal-screen font-mono" />
        {failure && <FailureNotice failure={failure} tryAgain={tryAgain} />}
        {opened && <PaneNotices opened={opened} refusal={refusal} revive={revive} onClose={onClose} />}
        {opened && <PaneOverlays opened={opened} mayType={mayType} />}
      </div>
      {opened && mayType && <TouchKeys opened={opened} />}
      {!isFollower && <TerminalEviction devboxId={devboxId} />}
      {opened ? (
        <TerminalStatusBar
          opened={opened}
          hintId={hintId}
          way={way}
          isFollower={isFollower}
          split={split}
          actions={actions}
        />
      ) : (
        <BarsPlaceholder mayType={mayType} />
      )}
      {opened && <Wiring {...props} opened={opened} way={way} hintId={hintId} />}
    </div>
  )
}

/** Features that add themselves to the opened terminal. */
const PaneOverlays = ({ opened, mayType }: { opened: OpenedTerminal; mayType: boolean }) => (
  <>
    <Bell opened={opened} />
    <CommandMarks opened={opened} />
    <TerminalReset opened={opened} />
    <TerminalLinks opened={opened} />
    <Clipboard opened={opened} />
    <ClipboardAccess opened={opened} />
    <FindBar opened={opened} />
    {mayType && <FileDrop opened={opened} />}
  </>
)

const flashMs = 300
/** Limits a continuous bell to twice a second. */
const quietMs = 500

const Bell = ({ opened }: { opened: OpenedTerminal }) => {
  const [isLit, setIsLit] = useState(false)
  useEffect(() => {
    let lastAt = Number.NEGATIVE_INFINITY
    let timer: ReturnType<typeof setTimeout> | undefined
    const ring = opened.terminal.onBell(() => {
      const now = performance.now()
      if (now - lastAt < quietMs) return
      lastAt = now
      if (terminalSettings.get().bell === 'none') return
      setIsLit(true)
      clearTimeout(timer)
      timer = setTimeout(() => setIsLit(false), flashMs)
    })
    return () => {
      ring.dispose()
      clearTimeout(timer)
    }
  }, [opened])
  return isLit && <div data-bell className="pointer-events-none absolute inset-0 z-10 border-2 border-attention" />
}

/** Reserves room for the key bar in advance, because showing it would resize the shell. */
const TouchKeys = ({ opened }: { opened: OpenedTerminal }) => {
  const hasTouch = useMedia('(pointer: coarse)')
  return <div className="hidden min-h-[2.8125rem] pointer-coarse:block">{hasTouch && <KeyBar opened={opened} />}</div>
}

const TerminalEviction = ({ devboxId }: { devboxId: string }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const eviction = evictionOf(feed, devboxId)
  const isOver = useClock((nowMs) => eviction === undefined || isOverdue(eviction, nowMs))
  const isNow = useClock((nowMs) => eviction !== undefined && timeLeftMs(eviction.deadline_ms, nowMs) === 0)
  if (!eviction || isOver) return null
  return (
    <p className="flex items-center gap-2 border-t border-attention-line bg-attention-bg px-3 py-0.5 text-sm">
      <Timer aria-hidden className="size-3.5 shrink-0 text-attention" />
      <span className="min-w-0">
        {isNow ? (
          'Being evicted now: '
        ) : (
          <>
            Eviction in <Countdown deadlineMs={eviction.deadline_ms} />:{' '}
          </>
        )}
        <span className="text-muted">
          the devbox will be suspended. Its disk is kept; running programs are terminated.
        </span>
      </span>
    </p>
  )
}

const FailureNotice = ({ failure, tryAgain }: { failure: string; tryAgain: () => void }) => (
  <div className="relative">
    <NoticeBar
      tone="danger"
      icon={CircleAlert}
      actions={
        <>
          <Button size="sm" onClick={tryAgain}>
            Try again
          </Button>
          <Button size="sm" variant="ghost" onClick={() => location.reload()}>
            Reload the page
          </Button>
        </>
      }
    >
      The terminal could not be loaded. If the console was updated since this page was opened, reload it.{' '}
      <span className="text-muted">{failure}</span>
    </NoticeBar>
  </div>
)

/** Reserves the height of the bars, so that the shell isn't resized when they appear. */
const BarsPlaceholder = ({ mayType }: { mayType: boolean }) => (
  <div aria-hidden>
    {mayType && <div className="hidden h-[2.8125rem] pointer-coarse:block" />}
    <div className="h-9 border-t border-line bg-surface-1" />
  </div>
)

/** Rendered last, so that all features are listening when it connects. */
const Wiring = ({
  opened,
  way,
  hintId,
  ...props
}: TerminalPaneProps & { opened: OpenedTerminal; way: RefObject<HTMLButtonElement | null>; hintId: string }) => {
  const state = useTerminalState(opened.session)
  usePaneStatus(opened, state, props)
  usePaneTitle(opened, props.onTitle)
  usePaneAttributes(opened, state, props.refusal)
  useCursorInSight(opened, state.role === 'watcher')
  usePaneFocus(opened, way, hintId, props)
  useReconnecting(opened, state, props)
  useFontSize(opened)
  return <StateAnnouncement state={state} refusal={props.refusal} />
}

interface PaneNoticesProps {
  opened: OpenedTerminal
  refusal: string | null
  revive: ReactNode
  onClose: () => void
}

/** Overlays the screen, because taking room from it would resize the shell. */
const PaneNotices = ({ opened, refusal, revive, onClose }: PaneNoticesProps) => {
  const { session, terminal, focus } = opened
  const state = useTerminalState(session)
  const { phase } = state.connection
  const [isBelow, setIsBelow] = useState(false)
  // Must not cover the cursor line.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per notice
  useEffect(() => setIsBelow(terminal.buffer.active.cursorY < terminal.rows / 2), [terminal, phase, refusal])
  return (
    <div
      className={classes(
        'animate-appear-late absolute inset-x-0 z-10 max-h-full overflow-y-auto',
        isBelow ? 'bottom-0 border-t border-line' : 'top-0 border-b border-line',
      )}
      key={`${phase} ${refusal}`}
    >
      <ConnectionNotice
        state={state}
        refusal={refusal}
        revive={revive}
        onClose={onClose}
        onConnect={() => {
          session.connect()
          focus()
        }}
      />
      <UnsentInputNotice opened={opened} />
    </div>
  )
}

const UnsentInputNotice = ({ opened }: { opened: OpenedTerminal }) => {
  const { session, focus } = opened
  const state = useTerminalState(session)
  const { unsent } = state
  if (unsent.text === '' && !unsent.isFull) return null
  const signs = typedSigns(unsent.text)
  const amount = formatCountOf(signs.length, 'character')
  const andReturn = (what: () => void) => () => {
    what()
    focus()
  }
  return (
    <NoticeBar
      tone="attention"
      icon={Keyboard}
      actions={
        <>
          <Button
            size="sm"
            icon={Send}
            needs="/api/terminals"
            disabledReason={state.upstreamLost ? 'The connection is lost' : writingRefusal(state)}
            onClick={andReturn(session.sendUnsent)}
          >
            {unsent.mayHaveArrived ? 'Send again' : 'Send'} {amount}
          </Button>
          <Button size="sm" variant="ghost" icon={Trash2} onClick={andReturn(session.discardUnsent)}>
            Discard
          </Button>
        </>
      }
    >
      <span>{unsent.mayHaveArrived ? 'May not have arrived: ' : 'Not sent: '}</span>
      <code className="font-mono text-sm break-all whitespace-pre-wrap text-muted">
        {signs.map(({ sign, isControl }, index) =>
          isControl ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: what was typed only grows
            <kbd key={index} className="mx-px rounded-sm bg-surface-3 px-1 font-mono text-xs">
              {sign}
            </kbd>
          ) : (
            sign
          ),
        )}
      </code>
      {unsent.isFull && <span className="text-attention"> Limited to {maxUnsentBytes} bytes.</span>}
      {unsent.isForAnotherShell && <span className="text-attention"> You typed this for a previous shell.</span>}
    </NoticeBar>
  )
}

interface WatchingBarProps {
  opened: OpenedTerminal
  isFollower: boolean
  mayType: boolean
}

const WatchingBar = ({ opened, isFollower, mayType }: WatchingBarProps) => {
  const { session, focus } = opened
  const { role, connection, writer, takenBy, refusedKeys } = useTerminalState(session)
  if (role !== 'watcher' || connection.phase !== 'open') return null
  if (!mayType && !isFollower)
    return (
      <NoticeBar tone="progress" icon={Eye}>
        You're following. Viewers can't type.
        {writer && (
          <span className="text-muted">
            {' '}
            <VisibleText max={60}>{writer.name}</VisibleText> is typing.
          </span>
        )}
      </NoticeBar>
    )
  const isTaken = takenBy !== null && writer?.id === takenBy.id
  const take = () => {
    session.request({ t: 'takeover' })
    focus()
  }
  return (
    <NoticeBar
      tone={isTaken ? 'attention' : 'progress'}
      icon={Eye}
      actions={
        !isFollower && (
          <Button size="sm" onClick={take}>
            {isTaken ? 'Take back' : writer ? 'Take over' : 'Type here'}
          </Button>
        )
      }
    >
      {writer === null ? (
        'You are watching. Nobody is typing.'
      ) : isTaken ? (
        <>
          Taken over by <VisibleText max={60}>{writer.name}</VisibleText>
        </>
      ) : (
        <>
          <VisibleText max={60}>{writer.name}</VisibleText> is typing, joined <RelativeTime ms={writer.since_ms} />
        </>
      )}
      {refusedKeys > 0 && <span className="text-muted"> Your input is ignored while you watch.</span>}
    </NoticeBar>
  )
}

/** Announces state changes to screen readers, without countdowns. */
const StateAnnouncement = ({ state, refusal }: { state: TerminalState; refusal: string | null }) => {
  const wasLost = useRef(false)
  const { phase } = state.connection
  if (phase === 'lost') wasLost.current = true
  return (
    <p role="status" className="sr-only">
      {refusal ?? words(state, wasLost.current)}
    </p>
  )
}

const words = ({ connection, role, writer, upstreamLost, unsent, refusedKeys }: TerminalState, wasLost: boolean) => {
  switch (connection.phase) {
    case 'connecting':
      return ''
    case 'lost':
      return connection.isOffline ? 'Connection lost. This browser is offline.' : 'Connection lost. Reconnecting…'
    case 'ended':
      return describeExit(connection.exitCode, connection.reason)
    case 'taken':
      return 'Opened in another window'
    case 'refused':
      return 'The terminal could not be opened'
    case 'open':
      if (upstreamLost) return 'The console lost its connection to the service'
      if (role === 'watcher')
        return `You are watching. ${writer ? `${writer.name} is typing` : 'Nobody is typing'}${refusedKeys > 0 ? '; your input is ignored' : ''}`
      return `${wasLost ? 'Reconnected' : ''}${unsent.text ? '; unsent input is waiting' : ''}`
  }
}
