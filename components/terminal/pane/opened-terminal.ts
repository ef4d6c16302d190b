import type { Terminal } from '@xterm/xterm'
import { withAccount } from '#lib/browser/api/page-account.ts'
import { isSignedOut } from '#lib/browser/api/signed-out.ts'
import { PageTerminal } from '#lib/terminal/page/page-terminal.ts'
import type { DrawnTerminal } from './draw-terminal.ts'

declare global {
  interface Window {
    /** The terminal that has or last had the focus, for people's own scripts and measurements. */
    term?: Terminal | undefined
  }
}

/** A terminal on the screen, as the parts around it get it: each adds what it is for and takes it away again. */
export interface OpenedTerminal {
  terminal: Terminal
  session: PageTerminal
  /** Of the pane: what lies over or beside the screen is placed in it. */
  element: HTMLElement
  devboxId: string
  /** The name of the session, which is in the address. */
  name: string
  focus(): void
  /** To be called when the cells have another size; the element's own changes are followed anyway. */
  fit(): void
  /** As if pasted: with the guards of a paste already passed. */
  paste(text: string): void
  /**
   * Asked before the terminal takes a key, the last one added first. True: the key is used up. Returns the call that
   * takes it away.
   */
  onKey(handler: (event: KeyboardEvent) => boolean): () => void
  /** Answers what is sent instead of what was typed, the last one added first. Returns the call that takes it away. */
  onInput(change: (text: string) => string): () => void
}

interface Opening extends Pick<OpenedTerminal, 'element' | 'devboxId' | 'name'> {
  /** What the terminal is drawn into. */
  screen: HTMLElement
  /** The page's own name, by which the console knows it again. */
  page: string
  /** Of a link to follow by, instead of the devbox's own terminal. */
  followToken: string | undefined
  isVisible: () => boolean
}

/** Joins a drawn terminal with a session that is not connected yet. `close` ends both. */
export const openTerminal = (
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
      session.dispose()
      drawn.close()
    },
  }
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
