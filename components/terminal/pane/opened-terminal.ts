import type { Terminal } from '@xterm/xterm'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { flushSync } from 'react-dom'
import { isSignedOut, withAccount } from '#lib/browser/api/page-account.ts'
import { pageIdentity } from '#lib/browser/frame/page-identity.ts'
import { PageTerminal, type TerminalState } from '#lib/terminal/page/page-terminal.ts'
import type { DrawnTerminal } from './draw-terminal.ts'
import { PaneCommands } from './pane-commands.ts'

declare global {
  interface Window {
    /** The terminal with the last focus, for user scripts and measurements. */
    term?: Terminal | undefined
  }
}

/** A terminal on screen. Features add their handlers to it and remove them again. */
export interface OpenedTerminal {
  terminal: Terminal
  session: PageTerminal
  commands: PaneCommands
  element: HTMLElement
  devboxId: string
  name: string
  focus(): void
  /** Call when the cell size changes; resizing the element is detected. */
  fit(): void
  paste(text: string): void
  /** Handlers run before the terminal, latest first; true consumes the key. Returns the remove function. */
  onKey(handler: (event: KeyboardEvent) => boolean): () => void
  /** Transforms input before it is sent, latest first. Returns the remove function. */
  onInput(change: (text: string) => string): () => void
}

export const useTerminalState = (session: PageTerminal): TerminalState =>
  useSyncExternalStore(
    session.subscribe,
    () => session.state,
    () => session.state,
  )

/** Why this page can't type, record, reset or end the terminal; null if it can. */
export const writingRefusal = ({ connection, role }: TerminalState): string | null => {
  if (connection.phase !== 'open') return 'The terminal is not connected'
  return role === 'watcher' ? 'Another window is typing' : null
}

interface Opening extends Pick<OpenedTerminal, 'element' | 'devboxId' | 'name'> {
  screen: HTMLElement
  /** Stable name by which the console recognizes this page. */
  page: string
  followToken: string | undefined
  isVisible: () => boolean
}

/** Joins a drawn terminal with an unconnected session. `close` ends both. */
const openTerminal = (
  drawn: DrawnTerminal,
  { element, screen, page, devboxId, name, followToken, isVisible }: Opening,
): { opened: OpenedTerminal; close: () => void } => {
  const { terminal } = drawn
  const session = new PageTerminal({
    url: () => {
      const address = location.origin.replace(/^http/, 'ws') + terminalPath(devboxId, name, followToken)
      return followToken === undefined ? withAccount(address) : address
    },
    screen: terminal,
    page,
    role: followToken ? 'watch' : undefined,
    isSignedOut: async () => followToken === undefined && (await isSignedOut()),
    isOffline: () => !navigator.onLine && !isLoopback,
    isVisible: () => document.visibilityState === 'visible',
  })
  const commands = new PaneCommands(terminal, session)
  const keys: ((event: KeyboardEvent) => boolean)[] = []
  const inputs: ((text: string) => string)[] = []
  terminal.attachCustomKeyEventHandler((event) => !keys.some((handler) => handler(event)))
  terminal.onData((text) => session.sendText(inputs.reduce((typed, change) => change(typed), text)))
  terminal.onBinary(session.sendBinary)

  const fit = () => {
    const available = isVisible() ? drawn.available() : undefined
    if (available) session.fit(available)
  }
  drawn.onCells(fit)
  const stopFitting = whenResized(screen, fit)
  const stopChecking = whenReachable(session.check)
  window.term ??= terminal
  terminal.textarea?.addEventListener('focus', () => {
    window.term = terminal
  })
  return {
    opened: {
      terminal,
      session,
      commands,
      element,
      devboxId,
      name,
      fit,
      focus: () => terminal.focus(),
      paste: (text) => terminal.paste(text),
      onKey: (handler) => addFirst(keys, handler),
      onInput: (change) => addFirst(inputs, change),
    },
    close() {
      stopFitting()
      stopChecking()
      if (window.term === terminal) window.term = undefined
      commands.close()
      session.dispose()
      drawn.close()
    },
  }
}

const terminalPath = (devboxId: string, name: string, followToken: string | undefined): string =>
  followToken === undefined
    ? `/api/terminals/${encodeURIComponent(devboxId)}/${encodeURIComponent(name)}`
    : `/api/follow/${encodeURIComponent(followToken)}`

const isLoopback = typeof location === 'object' && /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname)

const addFirst = <T>(list: T[], entry: T): (() => void) => {
  list.unshift(entry)
  return () => void list.splice(list.indexOf(entry), 1)
}

/** At most once per frame, and again when fonts have loaded. */
const whenResized = (element: HTMLElement, fit: () => void): (() => void) => {
  let frame = 0
  let isOver = false
  const soon = () => {
    if (isOver) return
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(fit)
  }
  const observer = new ResizeObserver(soon)
  observer.observe(element)
  void document.fonts.ready.then(soon)
  return () => {
    isOver = true
    cancelAnimationFrame(frame)
    observer.disconnect()
  }
}

/** Calls `check` when the network or the page's visibility changes. */
const whenReachable = (check: () => void): (() => void) => {
  const listening = new AbortController()
  const { signal } = listening
  window.addEventListener('online', check, { signal })
  window.addEventListener('offline', check, { signal })
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && check(), { signal })
  return () => listening.abort()
}

const loadXterm = () => import('./draw-terminal.ts')
if (typeof window === 'object') loadXterm().catch(() => undefined)

interface Options {
  devboxId: string
  name: string
  followToken?: string | undefined
  isVisible: boolean
}

/** Creates and connects a terminal once `screen` is visible, and keeps it until unmount. */
export const useOpenedTerminal = (
  pane: RefObject<HTMLElement | null>,
  screen: RefObject<HTMLElement | null>,
  { devboxId, name, followToken, isVisible }: Options,
): { opened: OpenedTerminal | undefined; failure: string | undefined; tryAgain: () => void } => {
  const [opened, setOpened] = useState<OpenedTerminal>()
  const [failure, setFailure] = useState<string>()
  const [attempt, setAttempt] = useState(0)
  const visible = useRef(isVisible)
  visible.current = isVisible
  // Waits while hidden, because the shell would start with the wrong size.
  const [isWanted, setIsWanted] = useState(isVisible)
  if (isVisible && !isWanted) setIsWanted(true)
  useLayoutEffect(() => {
    if (screen.current?.clientWidth) setIsWanted(true)
  }, [screen])

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt begins from the start
  useEffect(() => {
    if (!isWanted) return
    let isGone = false
    setFailure(undefined)
    let close = () => {}
    const start = async (element: HTMLElement, screen: HTMLElement) => {
      const [{ drawTerminal }, page] = await Promise.all([loadXterm(), pageIdentity()])
      if (isGone) return
      const drawn = await drawTerminal(screen)
      if (isGone) return drawn.close()
      const made = openTerminal(drawn, {
        element,
        screen,
        page,
        devboxId,
        name,
        followToken,
        isVisible: () => visible.current,
      })
      close = () => {
        made.close()
        setOpened(undefined)
      }
      made.opened.fit()
      made.opened.session.connect()
      // Synchronous, so that all features listen before the socket delivers anything.
      flushSync(() => setOpened(made.opened))
    }
    if (pane.current && screen.current)
      start(pane.current, screen.current).catch((error: unknown) => setFailure(String(error)))
    return () => {
      isGone = true
      close()
    }
  }, [pane, screen, devboxId, name, followToken, isWanted, attempt])

  useEffect(() => {
    if (isVisible) opened?.fit()
  }, [opened, isVisible])
  return { opened, failure, tryAgain: () => setAttempt((before) => before + 1) }
}
