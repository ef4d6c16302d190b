import { type RefObject, useEffect, useEffectEvent, useRef } from 'react'
import type { TerminalState } from '#lib/terminal/page/page-terminal.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { useServing } from '../terminal-requests.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'
import { phaseOf } from './pane-status.ts'

/** After a refusal the devbox is asked again: it may have come back before the page knew that it was gone. */
const askAgainMs = 3_000

/** Connects a terminal again when its devbox is back. */
export const useReconnecting = (
  opened: OpenedTerminal,
  { connection }: TerminalState,
  { refusal, onNotRunning }: { refusal: string | null; onNotRunning: () => void },
): void => {
  const { session, focus } = opened
  // All bars are there now, and take their part of the height.
  useEffect(() => opened.fit(), [opened])

  const isRefused = connection.phase === 'refused' && connection.code === 'not_running'
  const tellNotRunning = useEffectEvent(onNotRunning)
  useEffect(() => {
    if (isRefused) tellNotRunning()
  }, [isRefused])
  useEffect(() => {
    if (!isRefused || refusal !== null) return
    const timer = setTimeout(session.connect, askAgainMs)
    return () => clearTimeout(timer)
  }, [session, isRefused, refusal])

  const before = useRef(refusal)
  useEffect(() => {
    if (before.current === refusal) return
    before.current = refusal
    if (refusal !== null) return
    const { phase } = session.state.connection
    if (phase !== 'open' && phase !== 'connecting') session.connect()
    // The button that brought it back is gone, and the focus with it.
    if (document.activeElement === document.body) focus()
  }, [session, focus, refusal])
}

/**
 * Tells when the pane gets the focus, and lets Ctrl+Shift+X leave a terminal, which takes every other key: to a notice
 * over the screen, else to the pane's bar.
 */
export const usePaneFocus = (
  opened: OpenedTerminal,
  way: RefObject<HTMLElement | null>,
  hintId: string,
  { isActive, onFocus }: { isActive: boolean; onFocus: () => void },
): void => {
  const { terminal, element, focus, onKey } = opened
  const tellFocus = useEffectEvent(onFocus)
  useEffect(() => {
    const { textarea } = terminal
    textarea?.setAttribute('aria-describedby', hintId)
    // A terminal keeps Tab for its shell: a person who walks the page with it would be caught. The bar leads into it.
    if (textarea) textarea.tabIndex = -1
    const tell = () => tellFocus()
    textarea?.addEventListener('focus', tell)
    const forget = onKey((event) => {
      if (!event.ctrlKey || !event.shiftKey || event.key.toLowerCase() !== 'x') return false
      event.preventDefault()
      const inNotice = element.querySelector<HTMLElement>('[data-notice] button')
      if (event.type === 'keydown') (inNotice ?? way.current)?.focus()
      return true
    })
    return () => {
      textarea?.removeEventListener('focus', tell)
      forget()
    }
  }, [terminal, element, onKey, way, hintId])
  useServing(paneOf(opened), 'focus', focus)
  useEffect(() => {
    if (isActive) focus()
  }, [focus, isActive])
}

/** Longer ones are an attack on a tab bar. */
const maxTitleLength = 200

export const usePaneTitle = ({ terminal }: OpenedTerminal, onTitle: (title: string) => void): void => {
  const tell = useEffectEvent(onTitle)
  useEffect(() => {
    const listener = terminal.onTitleChange((title) => tell(title.slice(0, maxTitleLength)))
    return () => listener.dispose()
  }, [terminal])
}

/** Says on the pane itself what its terminal is, for its looks, and of a dimmed screen that it is out of use. */
export const usePaneLooks = (
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
