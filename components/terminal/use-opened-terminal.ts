import { type RefObject, useEffect, useState } from 'react'
import { isSignedOut } from '#lib/console/api.ts'
import { TerminalSession, type TerminalState } from '#lib/console/terminal-session.ts'
import { openTerminal } from './open-terminal.ts'
import type { OpenedTerminal } from './opened-terminal.ts'

interface Options {
  devboxId: string
  name: string
  onState: (state: TerminalState) => void
}

/** Draws a terminal into `screen` and connects it, for as long as the component lives. */
export const useOpenedTerminal = (
  pane: RefObject<HTMLElement | null>,
  screen: RefObject<HTMLElement | null>,
  { devboxId, name, onState }: Options,
): { opened: OpenedTerminal | undefined; failure: string | undefined } => {
  const [opened, setOpened] = useState<OpenedTerminal>()
  const [failure, setFailure] = useState<string>()

  useEffect(() => {
    let isGone = false
    let close = () => {}
    const start = async (element: HTMLElement, into: HTMLElement) => {
      const { terminal, fitToElement, ...drawn } = await openTerminal(into)
      if (isGone) return drawn.close()
      const session = new TerminalSession({
        url: `${location.origin.replace(/^http/, 'ws')}/api/terminals/${encodeURIComponent(devboxId)}/${encodeURIComponent(name)}`,
        screen: terminal,
        isSignedOut,
        onState,
      })
      terminal.onData(session.sendText)
      terminal.onBinary(session.sendBinary)
      terminal.onResize(session.resized)
      const handlers: ((event: KeyboardEvent) => boolean)[] = []
      terminal.attachCustomKeyEventHandler((event) => !handlers.some((handler) => handler(event)))
      let frame = 0
      const observer = new ResizeObserver(() => {
        cancelAnimationFrame(frame)
        frame = requestAnimationFrame(fitToElement)
      })
      observer.observe(into)
      window.addEventListener('online', session.retryNow)
      session.connect()
      setOpened({
        terminal,
        session,
        element,
        devboxId,
        name,
        focus: () => terminal.focus(),
        paste: (text) => terminal.paste(text),
        onKey(handler) {
          handlers.unshift(handler)
          return () => void handlers.splice(handlers.indexOf(handler), 1)
        },
      })
      close = () => {
        cancelAnimationFrame(frame)
        observer.disconnect()
        window.removeEventListener('online', session.retryNow)
        session.dispose()
        drawn.close()
        setOpened(undefined)
      }
    }
    if (pane.current && screen.current)
      start(pane.current, screen.current).catch((error: unknown) => setFailure(String(error)))
    return () => {
      isGone = true
      close()
    }
  }, [pane, screen, devboxId, name, onState])
  return { opened, failure }
}
