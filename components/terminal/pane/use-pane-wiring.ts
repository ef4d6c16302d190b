import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react'
import { useRefusal } from '#components/ui/refusals.ts'
import { isShortcut } from '#lib/browser/frame/shortcuts.ts'
import type { TerminalState } from '#lib/terminal/page/page-terminal.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { terminalQueries } from '../queries.ts'
import { useServing } from '../terminal-requests.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'

export interface PaneStatus {
  phase: 'connecting' | 'open' | 'watching' | 'lost' | 'unopened' | 'ended'
  exitCode: number | null
  /** Since the pane was last visible. */
  unseen: 'bell' | 'output' | null
}

export const usePaneStatus = (
  opened: OpenedTerminal,
  state: TerminalState,
  { isVisible, onStatus }: { isVisible: boolean; onStatus: (status: PaneStatus) => void },
): void => {
  const unseen = useUnseen(opened, isVisible)
  const phase = phaseOf(state)
  const exitCode = state.connection.phase === 'ended' ? state.connection.exitCode : null
  const report = useEffectEvent(onStatus)
  useEffect(() => report({ phase, exitCode, unseen }), [phase, exitCode, unseen])
}

const phaseOf = ({ connection, role, upstreamLost }: TerminalState): PaneStatus['phase'] => {
  const { phase } = connection
  if (phase === 'refused' && connection.code === 'follow_only') return 'unopened'
  if (phase === 'connecting' || phase === 'ended') return phase
  if (phase !== 'open' || upstreamLost) return 'lost'
  return role === 'watcher' ? 'watching' : 'open'
}

const useUnseen = ({ terminal }: OpenedTerminal, isVisible: boolean): PaneStatus['unseen'] => {
  const [unseen, setUnseen] = useState<PaneStatus['unseen']>(null)
  // The initial screen of a hidden terminal doesn't count.
  const wasSeen = useRef(false)
  useEffect(() => {
    const isSeen = () => isVisible && document.visibilityState === 'visible'
    const happened = (what: 'bell' | 'output') => () => {
      if (!isSeen() && wasSeen.current) setUnseen((before) => (before === 'bell' ? before : what))
    }
    const look = () => {
      if (!isSeen()) return
      wasSeen.current = true
      setUnseen(null)
    }
    look()
    const listeners = [terminal.onBell(happened('bell')), terminal.onWriteParsed(happened('output'))]
    document.addEventListener('visibilitychange', look)
    return () => {
      for (const each of listeners) each.dispose()
      document.removeEventListener('visibilitychange', look)
    }
  }, [terminal, isVisible])
  return unseen
}

/** After a refusal, retries in case the devbox came back before the page noticed that it had stopped. */
const retryMs = 3_000

export const useReconnecting = (
  opened: OpenedTerminal,
  { connection }: TerminalState,
  { refusal, onNotRunning }: { refusal: string | null; onNotRunning: () => void },
): void => {
  const { session, focus } = opened
  // All bars are rendered now and take their height.
  useEffect(() => opened.fit(), [opened])

  const isRefused = connection.phase === 'refused' && connection.code === 'not_running'
  const reportNotRunning = useEffectEvent(onNotRunning)
  useEffect(() => {
    if (isRefused) reportNotRunning()
  }, [isRefused])
  useEffect(() => {
    if (!isRefused || refusal !== null) return
    const timer = setTimeout(session.connect, retryMs)
    return () => clearTimeout(timer)
  }, [session, isRefused, refusal])

  // Someone else has to open it, or open it again.
  const isWaiting =
    useRefusal('/api/terminals') !== null &&
    (connection.phase === 'ended' || (connection.phase === 'refused' && connection.code === 'follow_only'))
  const { data: held, dataUpdatedAt } = useQuery({
    ...terminalQueries.followable(opened.devboxId),
    enabled: isWaiting,
  })
  const seen = useRef(0)
  useEffect(() => {
    const isNew = seen.current !== dataUpdatedAt
    seen.current = dataUpdatedAt
    if (isWaiting && isNew && held?.some(({ name }) => name === opened.name)) session.connect()
  }, [session, isWaiting, held, dataUpdatedAt, opened.name])

  const before = useRef(refusal)
  useEffect(() => {
    if (before.current === refusal) return
    before.current = refusal
    if (refusal !== null) return
    const { phase } = session.state.connection
    if (phase !== 'open' && phase !== 'connecting') session.connect()
    // The resume button, which had the focus, was removed.
    if (document.activeElement === document.body) focus()
  }, [session, focus, refusal])
}

/** Reports focus, and lets the keyboard leave the terminal for a notice or the pane's bar. */
export const usePaneFocus = (
  opened: OpenedTerminal,
  way: RefObject<HTMLElement | null>,
  hintId: string,
  { isActive, onFocus }: { isActive: boolean; onFocus: () => void },
): void => {
  const { terminal, element, focus, onKey } = opened
  const reportFocus = useEffectEvent(onFocus)
  useEffect(() => {
    const { textarea } = terminal
    textarea?.setAttribute('aria-describedby', hintId)
    // Tab belongs to the shell, so keyboard users enter the terminal from the bar.
    if (textarea) textarea.tabIndex = -1
    const report = () => reportFocus()
    textarea?.addEventListener('focus', report)
    const forget = onKey((event) => {
      if (!isShortcut('terminal.leave', event)) return false
      event.preventDefault()
      const inNotice = element.querySelector<HTMLElement>('[data-notice] button')
      if (event.type === 'keydown') (inNotice ?? way.current)?.focus()
      return true
    })
    return () => {
      textarea?.removeEventListener('focus', report)
      forget()
    }
  }, [terminal, element, onKey, way, hintId])
  useServing(paneOf(opened), 'focus', focus)
  useEffect(() => {
    if (isActive) focus()
  }, [focus, isActive])
}

export const usePaneTitle = ({ terminal }: OpenedTerminal, onTitle: (title: string) => void): void => {
  const report = useEffectEvent(onTitle)
  useEffect(() => {
    const listener = terminal.onTitleChange((title) => report(title.slice(0, 200)))
    return () => listener.dispose()
  }, [terminal])
}

export const usePaneAttributes = (
  { terminal, element }: OpenedTerminal,
  state: TerminalState,
  refusal: string | null,
): void => {
  const phase = refusal === null ? phaseOf(state) : 'lost'
  useEffect(() => {
    element.dataset.terminal = phase
    terminal.element?.setAttribute('role', 'group')
    terminal.element?.setAttribute('aria-disabled', String(phase === 'lost'))
  }, [terminal, element, phase])
}

/** Scrolls to the cursor while watching a terminal larger than the pane. */
export const useCursorInSight = ({ terminal }: OpenedTerminal, isWatching: boolean): void => {
  useEffect(() => {
    if (!isWatching) return
    // xterm keeps its text field at the cursor.
    const listener = terminal.onCursorMove(() =>
      terminal.textarea?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    )
    return () => listener.dispose()
  }, [terminal, isWatching])
}
