'use client'
import { CircleAlert } from 'lucide-react'
import { type ReactNode, type RefObject, useId, useRef } from 'react'
import { Button } from '#components/ui/button.tsx'
import { TerminalStatusBar } from '../tools/terminal-status-bar.tsx'
import { NoticeBar } from './notice-bar.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'
import { PaneFoot, PaneOverlays } from './pane-features.tsx'
import { PaneNotices } from './pane-notices.tsx'
import { type PaneStatus, usePaneStatus } from './pane-status.ts'
import { StateAnnouncement } from './state-announcement.tsx'
import { TerminalEviction } from './terminal-eviction.tsx'
import { useCursorInSight } from './use-cursor-in-sight.ts'
import { useOpenedTerminal } from './use-opened-terminal.ts'
import { usePaneAttributes, usePaneFocus, usePaneTitle, useReconnecting } from './use-pane-wiring.ts'
import { useTerminalState } from './use-terminal-state.ts'
import { WatchingBar } from './watching-bar.tsx'

export interface TerminalPaneProps {
  devboxId: string
  name: string
  /** Token of a read-only link, instead of the devbox's own terminal. */
  followToken?: string
  /** Has keyboard focus, or takes it when it appears. */
  isActive: boolean
  /** Hidden panes keep their connection but don't resize or draw; never visible ones have no connection yet. */
  isVisible: boolean
  /** Why the devbox can't open a shell; null while it runs. Changing to null reconnects. */
  refusal: string | null
  /** Action that restarts the devbox. */
  revive?: ReactNode
  /** The console reports that the devbox isn't running, which the page may not know yet. */
  onNotRunning: () => void
  /** Title set by a program in the devbox: untrusted, plain text only. */
  onTitle: (title: string) => void
  onStatus: (status: PaneStatus) => void
  onFocus: () => void
  /** Called when the user closes a pane whose shell has ended. */
  onClose: () => void
  /** Extra buttons for the pane's bar. */
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
        {opened && <PaneOverlays opened={opened} isFollowed={isFollower} />}
      </div>
      {opened && <PaneFoot opened={opened} />}
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

interface WiringProps extends TerminalPaneProps {
  opened: OpenedTerminal
  way: RefObject<HTMLButtonElement | null>
  hintId: string
}

/** Rendered last, so that all features are listening when it connects. */
const Wiring = ({ opened, way, hintId, ...props }: WiringProps) => {
  const state = useTerminalState(opened.session)
  usePaneStatus(opened, state, props)
  usePaneTitle(opened, props.onTitle)
  usePaneAttributes(opened, state, props.refusal)
  useCursorInSight(opened, state.role === 'watcher')
  usePaneFocus(opened, way, hintId, props)
  useReconnecting(opened, state, props)
  return <StateAnnouncement state={state} refusal={props.refusal} />
}
