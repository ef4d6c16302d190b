import type { Terminal } from '@xterm/xterm'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { withAccount } from '#lib/console/api/page-account.ts'
import { isSignedOut } from '#lib/console/api/signed-out.ts'
import { pageIdentity } from '#lib/console/frame/page-identity.ts'
import { PageTerminal } from '#lib/terminal/page/page-terminal.ts'
import type { OpenedTerminal } from './opened-terminal.ts'

declare global {
  interface Window {
    /** The terminal that has or last had the focus, for people's own scripts and measurements. */
    term?: Terminal | undefined
  }
}

const loadXterm = () => import('./draw-terminal.ts')
// The page's code begins to load it; a pane that mounts later waits for the rest, and tells of a failure.
if (typeof window === 'object') loadXterm().catch(() => undefined)

interface Options {
  devboxId: string
  name: string
  /** Of a link to follow by, instead of the devbox's own terminal. */
  followToken?: string | undefined
  isVisible: boolean
}

/**
 * Draws a terminal into `screen` once that is visible, connects it, and keeps it for as long as the component lives.
 */
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
  // One that is hidden without a size waits: its shell would start with the wrong one.
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
    const start = async (element: HTMLElement, into: HTMLElement) => {
      const [{ drawTerminal }, page] = await Promise.all([loadXterm(), pageIdentity()])
      if (isGone) return
      const drawn = await drawTerminal(into)
      if (isGone) return drawn.close()
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
      const keys: ((event: KeyboardEvent) => boolean)[] = []
      const inputs: ((text: string) => string)[] = []
      terminal.attachCustomKeyEventHandler((event) => !keys.some((handler) => handler(event)))
      terminal.onData((text) => session.sendText(inputs.reduce((typed, change) => change(typed), text)))
      terminal.onBinary(session.sendBinary)

      const fitToPane = () => {
        const available = visible.current ? drawn.available() : undefined
        if (available) session.fit(available)
      }
      drawn.onCells(fitToPane)
      const stopFitting = whenResized(into, fitToPane)
      const stopChecking = whenReachable(session.check)
      const becomeTerm = () => {
        window.term = terminal
      }
      window.term ??= terminal
      terminal.textarea?.addEventListener('focus', becomeTerm)
      const made: OpenedTerminal = {
        terminal,
        session,
        element,
        devboxId,
        name,
        fit: fitToPane,
        focus: () => terminal.focus(),
        paste: (text) => terminal.paste(text),
        onKey: (handler) => addFirst(keys, handler),
        onInput: (change) => addFirst(inputs, change),
      }
      close = () => {
        stopFitting()
        stopChecking()
        if (window.term === terminal) window.term = undefined
        session.dispose()
        drawn.close()
        setOpened(undefined)
      }
      fitToPane()
      session.connect()
      // In the same task, so that all parts of the pane listen before the socket can bring anything.
      flushSync(() => setOpened(made))
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

const terminalPath = (devboxId: string, name: string, followToken: string | undefined): string =>
  followToken === undefined
    ? `/api/terminals/${encodeURIComponent(devboxId)}/${encodeURIComponent(name)}`
    : `/api/follow/${encodeURIComponent(followToken)}`

/** A console on this machine is reached without any network. */
const isLoopback = typeof location === 'object' && /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname)

const addFirst = <T>(list: T[], entry: T): (() => void) => {
  list.unshift(entry)
  return () => void list.splice(list.indexOf(entry), 1)
}

/** Once a frame at most, and once more when fonts have come: cells may have another width then. */
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

/** Calls `check` when the network is back, is said to be gone, or somebody looks at the page again. */
const whenReachable = (check: () => void): (() => void) => {
  const looked = () => {
    if (document.visibilityState === 'visible') check()
  }
  window.addEventListener('online', check)
  window.addEventListener('offline', check)
  document.addEventListener('visibilitychange', looked)
  return () => {
    window.removeEventListener('online', check)
    window.removeEventListener('offline', check)
    document.removeEventListener('visibilitychange', looked)
  }
}
