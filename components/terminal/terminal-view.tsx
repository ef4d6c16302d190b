'use client'
import '@xterm/xterm/css/xterm.css'
import './terminal-colours.css'
import { CornerUpLeft, Play, RotateCw, Square } from 'lucide-react'
import {
  type ClipboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import { isSignedOut, leaveForSignIn } from '#lib/console/api.ts'
import { cleanPaste, TerminalSession, type TerminalState } from '#lib/console/terminal-session.ts'
import { openTerminal } from './open-terminal.ts'

export interface TerminalViewProps {
  devboxId: string
  name: string
  /** Why the devbox has no shell to offer now; null while it runs. When it becomes null again the terminal attaches anew. */
  refusal: string | null
  /** What brings the devbox back, if anything does. */
  revive?: ReactNode
  /** The console was told that the devbox does not run, which the page may not know yet. */
  onNotRunning: () => void
}

/** A shell on a devbox. The shell outlives this view: the same name finds it again. */
export const TerminalView = ({ devboxId, name, refusal, revive, onNotRunning }: TerminalViewProps) => {
  const element = useRef<HTMLElement>(null)
  const hintId = useId()
  const room = useRef<HTMLDivElement>(null)
  const way = useRef<HTMLButtonElement>(null)
  const [opened, setOpened] = useState<Opened>()
  const [state, setState] = useState<TerminalState>({ phase: 'connecting' })
  const [failure, setFailure] = useState<string>()
  const [pasted, setPasted] = useState<string>()
  const [isEnding, setIsEnding] = useState(false)
  const notRunning = useRef(onNotRunning)
  notRunning.current = onNotRunning

  useEffect(() => {
    let isGone = false
    let close = () => {}
    const start = async (into: HTMLElement) => {
      const { terminal, fitToElement, ...screen } = await openTerminal(into)
      if (isGone) return screen.close()
      const session = new TerminalSession({
        url: `${location.origin.replace(/^http/, 'ws')}/api/terminals/${encodeURIComponent(devboxId)}/${encodeURIComponent(name)}`,
        screen: terminal,
        isSignedOut,
        onState(next) {
          setState(next)
          if (next.phase === 'refused' && next.code === 'not_running') notRunning.current()
        },
      })
      terminal.textarea?.setAttribute('aria-describedby', hintId)
      terminal.onData(session.sendText)
      terminal.onBinary(session.sendBinary)
      terminal.onResize(session.resized)
      terminal.attachCustomKeyEventHandler((event) => {
        const key = event.ctrlKey && event.shiftKey ? event.key.toLowerCase() : ''
        if (key === 'x') {
          if (event.type === 'keydown') way.current?.focus()
        } else if (key === 'c' && terminal.hasSelection()) {
          if (event.type === 'keydown') void copy(terminal.getSelection())
        } else return key !== 'v'
        event.preventDefault()
        return false
      })
      let frame = 0
      const observer = new ResizeObserver(() => {
        cancelAnimationFrame(frame)
        frame = requestAnimationFrame(fitToElement)
      })
      observer.observe(into)
      window.addEventListener('online', session.retryNow)
      session.connect()
      terminal.focus()
      setOpened({ session, focus: () => terminal.focus(), paste: (text) => terminal.paste(text) })
      close = () => {
        cancelAnimationFrame(frame)
        observer.disconnect()
        window.removeEventListener('online', session.retryNow)
        session.dispose()
        screen.close()
      }
    }
    if (element.current) start(element.current).catch((error: unknown) => setFailure(String(error)))
    return () => {
      isGone = true
      close()
    }
  }, [devboxId, name, hintId])

  useRevival(opened, refusal)
  useOwnTop(room)

  // Before xterm sees it: what is pasted may hold line ends that run it, or the sequence that ends bracketed paste.
  const guardPaste = (event: ClipboardEvent) => {
    event.preventDefault()
    event.stopPropagation()
    const text = cleanPaste(event.clipboardData.getData('text/plain'))
    if (/[\r\n]/.test(text)) setPasted(text)
    else if (text !== '') opened?.paste(text)
  }
  const answerPaste = (isWanted: boolean) => {
    if (isWanted && pasted !== undefined) opened?.paste(pasted)
    setPasted(undefined)
    // After the dialog has given the focus back to where it was.
    requestAnimationFrame(() => opened?.focus())
  }
  const reconnect = () => {
    opened?.session.connect()
    opened?.focus()
  }
  const isOpen = state.phase === 'open' && refusal === null

  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <div
        ref={room}
        // Down to the end of the window, less the bar below and the page's margin.
        className="relative h-[max(18rem,calc(100dvh-var(--terminal-top,20rem)-4.25rem))] bg-surface-0"
      >
        <section
          ref={element}
          aria-label="Terminal"
          data-takes-keys
          onPasteCapture={guardPaste}
          className={classes('absolute inset-2 right-1 font-mono transition-opacity', !isOpen && 'opacity-60')}
        />
        <Notice state={state} refusal={refusal} failure={failure} revive={revive} onReconnect={reconnect} />
      </div>
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
      <ConfirmDialog
        open={pasted !== undefined}
        onOpenChange={(open) => !open && answerPaste(false)}
        title="Paste several lines?"
        consequence={pasted !== undefined && <PastePreview text={pasted} />}
        confirmLabel="Paste into terminal"
        tone="primary"
        onConfirm={() => answerPaste(true)}
      />
    </div>
  )
}

interface Opened {
  session: TerminalSession
  focus(): void
  paste(text: string): void
}

/** Attaches again once the devbox is back. That it has gone, the console says on the screen when it hangs up. */
const useRevival = (opened: Opened | undefined, refusal: string | null) => {
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

/** Tells the element where it begins. What stands above it comes and goes, and changes the height of `main` when it does. */
const useOwnTop = (room: RefObject<HTMLElement | null>) =>
  useLayoutEffect(() => {
    const element = room.current
    const main = element?.closest('main')
    if (!element || !main) return
    const measure = () => {
      const top = element.getBoundingClientRect().top + window.scrollY
      element.style.setProperty('--terminal-top', `${Math.round(top)}px`)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(main)
    return () => observer.disconnect()
  }, [room])

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

const PastePreview = ({ text }: { text: string }) => (
  <div className="space-y-2">
    <p>{text.split(/\r\n|\r|\n/).length} lines go to the shell. A shell may run each line as soon as it arrives.</p>
    <pre className="max-h-48 overflow-auto rounded-md border border-line bg-surface-1 p-2 font-mono text-sm whitespace-pre-wrap break-all">
      {text.slice(0, 4000)}
      {text.length > 4000 && '…'}
    </pre>
  </div>
)

const copy = async (text: string) => {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    toast.danger('The browser did not allow copying')
  }
}
