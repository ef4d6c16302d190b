'use client'
import '@xterm/xterm/css/xterm.css'
import './terminal-colours.css'
import { CornerUpLeft, Play, RotateCw, Square } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useId, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { leaveForSignIn } from '#lib/console/api.ts'
import type { TerminalState } from '#lib/console/terminal-session.ts'
import type { OpenedTerminal } from './opened-terminal.ts'
import { PaneFoot, PaneOverlays, PaneTools } from './pane-features.tsx'
import { useOpenedTerminal } from './use-opened-terminal.ts'

export interface TerminalPaneProps {
  devboxId: string
  name: string
  /** Of a link to follow by: watches the terminal the link is for, instead of opening the devbox's own. */
  followToken?: string
  /** It has the keyboard, or takes it when it appears. */
  isActive: boolean
  /** A hidden pane keeps its connection, but neither fits nor draws. */
  isVisible: boolean
  /** Why the devbox has no shell to offer now; null while it runs. When it becomes null again the terminal attaches anew. */
  refusal: string | null
  /** What brings the devbox back, if anything does. */
  revive?: ReactNode
  /** The console was told that the devbox does not run, which the page may not know yet. */
  onNotRunning: () => void
  /** As the program in it names it; text of the devbox, to be shown as nothing but text. */
  onTitle: (title: string) => void
  onStatus: (status: PaneStatus) => void
  onFocus: () => void
  /** Wants to go away: somebody closed the pane of a shell that has ended. */
  onClose: () => void
  /** Buttons of the holder for this pane, placed in its bar. */
  actions?: ReactNode
}

/** What a tab says of its terminal. */
export interface PaneStatus {
  phase: 'connecting' | 'open' | 'watching' | 'lost' | 'ended'
  /** Of an ended shell, when it was told. */
  exitCode: number | null
  /** Happened since the pane was last seen. */
  unseen: 'bell' | 'output' | null
}

/** One terminal of a devbox. Its shell outlives this view: the same name finds it again. */
export const TerminalPane = (props: TerminalPaneProps) => {
  const { devboxId, name, isActive, refusal, revive, actions } = props
  const pane = useRef<HTMLDivElement>(null)
  const screen = useRef<HTMLElement>(null)
  const way = useRef<HTMLButtonElement>(null)
  const hintId = useId()
  const [state, setState] = useState<TerminalState>({ phase: 'connecting' })
  const [isEnding, setIsEnding] = useState(false)
  const latest = useRef(props)
  latest.current = props

  const onState = useCallback((next: TerminalState) => {
    setState(next)
    if (next.phase === 'refused' && next.code === 'not_running') latest.current.onNotRunning()
    latest.current.onStatus({ phase: phaseOf(next), exitCode: null, unseen: null })
  }, [])
  const { opened, failure } = useOpenedTerminal(pane, screen, { devboxId, name, onState })

  useEffect(() => {
    if (!opened) return
    const { terminal, onKey } = opened
    terminal.textarea?.setAttribute('aria-describedby', hintId)
    const onFocus = () => latest.current.onFocus()
    terminal.textarea?.addEventListener('focus', onFocus)
    const titles = terminal.onTitleChange((title) => latest.current.onTitle(title))
    const forget = onKey((event) => {
      if (!event.ctrlKey || !event.shiftKey || event.key.toLowerCase() !== 'x') return false
      event.preventDefault()
      if (event.type === 'keydown') way.current?.focus()
      return true
    })
    return () => {
      terminal.textarea?.removeEventListener('focus', onFocus)
      titles.dispose()
      forget()
    }
  }, [opened, hintId])

  useEffect(() => {
    if (isActive) opened?.focus()
  }, [opened, isActive])

  useRevival(opened, refusal)

  const reconnect = () => {
    opened?.session.connect()
    opened?.focus()
  }
  const isOpen = state.phase === 'open' && refusal === null

  return (
    <div ref={pane} className="flex h-full min-h-0 flex-col overflow-hidden rounded-lg border border-line">
      <div className="relative min-h-0 flex-1 bg-surface-0">
        <section
          ref={screen}
          aria-label="Terminal"
          data-takes-keys
          className={classes('absolute inset-2 right-1 font-mono transition-opacity', !isOpen && 'opacity-60')}
        />
        <Notice state={state} refusal={refusal} failure={failure} revive={revive} onReconnect={reconnect} />
        {opened && <PaneOverlays opened={opened} />}
      </div>
      {opened && <PaneFoot opened={opened} />}
      <div className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 border-t border-line bg-surface-1 px-3 py-1">
        <p id={hintId} className="text-sm text-muted">
          Press <Key>Ctrl</Key> <Key>Shift</Key> <Key>X</Key> to leave the terminal
        </p>
        <span className="flex-1" />
        <Button ref={way} size="sm" variant="ghost" icon={CornerUpLeft} onClick={() => opened?.focus()}>
          Back to the terminal
        </Button>
        <Button
          size="sm"
          variant="ghost"
          icon={Square}
          disabledReason={isOpen ? null : 'there is no open shell'}
          onClick={() => setIsEnding(true)}
        >
          End shell
        </Button>
        {opened && <PaneTools opened={opened} />}
        {actions}
      </div>
      <ConfirmDialog
        open={isEnding}
        onOpenChange={setIsEnding}
        title="End the shell?"
        consequence="What runs in it ends too. The devbox keeps running, and a new shell can be started."
        confirmLabel="End shell"
        onConfirm={() => {
          setIsEnding(false)
          opened?.session.endShell()
        }}
      />
    </div>
  )
}

const phaseOf = ({ phase }: TerminalState): PaneStatus['phase'] => {
  if (phase === 'connecting' || phase === 'open' || phase === 'ended') return phase
  return 'lost'
}

/** Attaches again once the devbox is back. That it has gone, the console says on the screen when it hangs up. */
const useRevival = (opened: OpenedTerminal | undefined, refusal: string | null) => {
  const before = useRef(refusal)
  useEffect(() => {
    if (!opened || before.current === refusal) return
    const { session, focus } = opened
    before.current = refusal
    if (refusal !== null) return
    if (session.state.phase !== 'open' && session.state.phase !== 'connecting') session.connect()
    // The button that brought it back is gone, and the focus with it.
    if (document.activeElement === document.body) focus()
  }, [opened, refusal])
}

interface NoticeProps {
  state: TerminalState
  refusal: string | null
  failure: string | undefined
  revive: ReactNode
  onReconnect: () => void
}

const Notice = (props: NoticeProps) => {
  const said = whatToSay(props)
  return (
    <div role="status" className="absolute inset-x-0 top-0 z-10">
      {said && (
        <div className="animate-appear-late flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-overlay px-3 py-2">
          <span className="min-w-0 flex-1 basis-48">{said.words}</span>
          {said.action}
        </div>
      )}
    </div>
  )
}

/** The words for a terminal that is not open, and the one way on; null while it is. */
const whatToSay = ({
  state,
  refusal,
  failure,
  revive,
  onReconnect,
}: NoticeProps): { words: string; action?: ReactNode } | null => {
  const button = (label: string, icon = RotateCw) => (
    <Button size="sm" icon={icon} onClick={onReconnect}>
      {label}
    </Button>
  )
  if (failure) return { words: `The terminal could not be loaded: ${failure}` }
  if (refusal) return { words: refusal, action: revive }
  switch (state.phase) {
    case 'open':
      return null
    case 'connecting':
      return { words: 'Connecting to the shell' }
    case 'reconnecting':
      return { words: 'Connection lost, reconnecting', action: button('Reconnect now') }
    case 'ended':
      return { words: 'The shell has ended', action: button('Start a new one', Play) }
    case 'taken_over':
      return { words: 'This terminal is open in another window', action: button('Take it back') }
    case 'refused':
      switch (state.code) {
        case 'signed_out':
          return {
            words: 'You are signed out',
            action: (
              <Button size="sm" onClick={leaveForSignIn}>
                Sign in
              </Button>
            ),
          }
        case 'not_found':
          return { words: 'This devbox no longer exists' }
        case 'not_running':
          return { words: 'The devbox is not running', action: button('Try again') }
      }
  }
}

const Key = ({ children }: { children: ReactNode }) => (
  <kbd className="rounded-sm border border-line bg-surface-0 px-1 font-mono text-xs">{children}</kbd>
)
