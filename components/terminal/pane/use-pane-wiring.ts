import { type RefObject, useEffect, useEffectEvent, useRef } from 'react'
import type { TerminalState } from '#lib/terminal/page/page-terminal.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { useServing } from '../terminal-requests.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'
import { phaseOf } from './pane-status.ts'

/** After a refusal, retries in case the devbox came back before the page noticed it was gone. */
const retryMs = 3_000

/** Reconnects a terminal when its devbox is back. */
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

  const before = useRef(refusal)
  useEffect(() => {
    if (before.current === refusal) return
    before.current = refusal
    if (refusal !== null) return
    const { phase } = session.state.connection
    if (phase !== 'open' && phase !== 'connecting') session.connect()
    // The resume button, which had the focus, is gone.
    if (document.activeElement === document.body) focus()
  }, [session, focus, refusal])
}

/** Reports focus, and lets Ctrl+Shift+X leave the terminal for a notice or the pane's bar. */
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
      if (!event.ctrlKey || !event.shiftKey || event.key.toLowerCase() !== 'x') return false
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

const maxTitleLength = 200

export const usePaneTitle = ({ terminal }: OpenedTerminal, onTitle: (title: string) => void): void => {
  const report = useEffectEvent(onTitle)
  useEffect(() => {
    const listener = terminal.onTitleChange((title) => report(title.slice(0, maxTitleLength)))
    return () => listener.dispose()
  }, [terminal])
}

/** Reflects the terminal's state in attributes for styling. */
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
