'use client'
import { useQuery } from '@tanstack/react-query'
import { CircleAlert, Timer } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react'
import { evictionOf, isOverdue, timeLeftMs } from '#components/alerts/alert-feed.ts'
import { Countdown } from '#components/alerts/countdown.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { Button } from '#components/ui/button.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { useMedia } from '#lib/browser/frame/use-media.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import { Clipboard } from '../tools/clipboard.tsx'
import { ClipboardAccess } from '../tools/clipboard-access.tsx'
import { FileDrop } from '../tools/file-drop-zone.tsx'
import { FindBar } from '../tools/find-bar.tsx'
import { TerminalLinks } from '../tools/terminal-links.tsx'
import { useFontSize } from '../tools/terminal-settings.tsx'
import { TerminalStatusBar } from '../tools/terminal-status-bar.tsx'
import { NoticeBar } from './connection-notice.tsx'
import { type OpenedTerminal, useOpenedTerminal, useTerminalState } from './opened-terminal.ts'
import { PaneNotices, StateAnnouncement, WatchingBar } from './pane-notices.tsx'
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
  actions?: ReactNode
}

/** One terminal of a devbox. The shell outlives this view and is found again by name. */
export const TerminalPane = (props: TerminalPaneProps) => {
  const { devboxId, name, followToken, isVisible, refusal, revive, onClose, actions } = props
  const pane = useRef<HTMLDivElement>(null)
  const screen = useRef<HTMLElement>(null)
  const way = useRef<HTMLButtonElement>(null)
  const hintId = useId()
  const { opened, failure, tryAgain } = useOpenedTerminal(pane, screen, { devboxId, name, followToken, isVisible })
  const isFollower = followToken !== undefined
  return (
    <div
      ref={pane}
      className="@container flex h-full min-h-0 min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-surface-0"
    >
      {opened && <WatchingBar opened={opened} isFollower={isFollower} />}
      <div className="relative min-h-0 flex-1">
        <section ref={screen} aria-label={`Terminal ${name}`} data-takes-keys className="terminal-screen font-mono" />
        {failure && <FailureNotice failure={failure} tryAgain={tryAgain} />}
        {opened && <PaneNotices opened={opened} refusal={refusal} revive={revive} onClose={onClose} />}
        {opened && <PaneOverlays opened={opened} isFollower={isFollower} />}
      </div>
      {opened && <TouchKeys opened={opened} />}
      {!isFollower && <TerminalEviction devboxId={devboxId} />}
      {opened ? (
        <TerminalStatusBar opened={opened} hintId={hintId} way={way} isFollower={isFollower} actions={actions} />
      ) : (
        <BarsPlaceholder />
      )}
      {opened && <Wiring {...props} opened={opened} way={way} hintId={hintId} />}
    </div>
  )
}

/** Features that add themselves to the opened terminal. */
const PaneOverlays = ({ opened, isFollower }: { opened: OpenedTerminal; isFollower: boolean }) => (
  <>
    <Bell opened={opened} />
    <TerminalLinks opened={opened} />
    <Clipboard opened={opened} />
    <ClipboardAccess opened={opened} />
    <FindBar opened={opened} />
    {!isFollower && <FileDrop opened={opened} />}
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
  const isOver = useClock((nowMs) => eviction === undefined || isOverdue(eviction, feed, nowMs))
  const isNow = useClock((nowMs) => eviction !== undefined && timeLeftMs(feed, eviction.deadline_ms, nowMs) === 0)
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
const BarsPlaceholder = () => (
  <div aria-hidden>
    <div className="hidden h-[2.8125rem] pointer-coarse:block" />
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
