import type { Terminal } from '@xterm/xterm'
import { isSignedOut } from '#lib/console/api/signed-out.ts'
import { pageIdentity } from '#lib/console/frame/page-identity.ts'
import { type TerminalTarget, terminalUrl } from '#lib/terminal/page/address.ts'
import { keyBytes } from '#lib/terminal/page/keys.ts'
import { TerminalSession } from '#lib/terminal/page/page-terminal.ts'
import { type DrawnTerminal, drawTerminal } from './draw-terminal.ts'
import type { EarlyShell } from './early-shell.ts'
import type { LoneTerminal } from './lone-terminal.ts'
import { rememberedRoom, rememberRoom } from './remembered-room.ts'

declare global {
  interface Window {
    /** The terminal that has or last had the focus, for people's own scripts and measurements. */
    term?: Terminal | undefined
  }
}

/** A terminal that is drawn, with a session that is not connected yet. */
export interface StartedTerminal extends DrawnTerminal {
  session: TerminalSession
}

/** Draws a terminal into `screen`, as large as there is room. */
export const startTerminal = (screen: HTMLElement, target: TerminalTarget): Promise<StartedTerminal> =>
  complete(start(screen, target))

const complete = async (starting: Promise<StartedTerminal>): Promise<StartedTerminal> => {
  const started = await starting
  try {
    await started.countCells()
  } catch (error) {
    started.close()
    throw error
  }
  return started
}

const start = async (screen: HTMLElement, target: TerminalTarget): Promise<StartedTerminal> => {
  const drawn = await drawTerminal(screen, rememberedRoom(screen))
  const { terminal } = drawn
  const room = drawn.room()
  if (room) terminal.resize(room.cols, room.rows)
  const session = new TerminalSession({
    url: () => terminalUrl(target),
    screen: terminal,
    page: pageIdentity,
    role: target.followToken ? 'watch' : undefined,
    isSignedOut: async () => target.followToken === undefined && (await isSignedOut()),
    isOffline: () => !navigator.onLine && !isLoopback,
    isVisible: () => document.visibilityState === 'visible',
  })
  window.term ??= terminal
  return {
    ...drawn,
    session,
    close() {
      if (window.term === terminal) window.term = undefined
      session.dispose()
      drawn.close()
    },
  }
}

let ahead: { screen: HTMLElement; session: string; started: Promise<StartedTerminal>; stopKeys(): void } | undefined

/**
 * Starts the terminal of a page as the server sent it, before React has brought that to life. Done when its first
 * prompt is on the screen, or none is to come.
 */
export const startAhead = async ({ screen, target }: LoneTerminal, shell: EarlyShell): Promise<void> => {
  const started = start(screen, target)
  const mine = { screen, session: target.name, started, stopKeys: () => {} }
  ahead = mine
  setTimeout(closeAhead, untakenMs)
  // Whoever takes it hears of a failure.
  const drawn = await started
  if (ahead !== mine) return
  rememberRoom(screen, drawn.terminal)
  const opened = drawn.session.openAhead({ early: shell.take(target, drawn.terminal), countCells: drawn.countCells })
  mine.stopKeys = takeKeys(screen, drawn)
  await opened
  await nextFrame()
}

/**
 * What is typed to a prompt that is seen is kept for its shell, and a click leaves it the keyboard. Taken at the window,
 * as React lets no event through to a page it has begun with. Nothing asks about a paste yet: it has to come again.
 */
const takeKeys = (screen: HTMLElement, { terminal, session }: StartedTerminal): (() => void) => {
  const { textarea } = terminal
  if (document.activeElement === document.body) terminal.focus()
  const type = (event: KeyboardEvent) => {
    const text = event.target === textarea ? typedText(event, terminal.modes) : undefined
    if (text === undefined) return
    event.preventDefault()
    event.stopImmediatePropagation()
    session.sendText(text)
  }
  const paste = (event: ClipboardEvent) => {
    if (event.target === textarea) event.preventDefault()
  }
  const click = (event: MouseEvent) => {
    if (!(event.target instanceof Node && screen.contains(event.target))) return
    event.preventDefault()
    terminal.focus()
  }
  const over = new AbortController()
  const before = { capture: true, signal: over.signal }
  window.addEventListener('keydown', type, before)
  window.addEventListener('paste', paste, before)
  window.addEventListener('mousedown', click, before)
  return () => over.abort()
}

const lineKeys = /^(Enter|Backspace|Delete|Tab|Escape|Home|End|Arrow(Up|Down|Left|Right))$/

/** What a key writes to a command line; all others mean something to the page. */
const typedText = (event: KeyboardEvent, { applicationCursorKeysMode }: Terminal['modes']): string | undefined => {
  const { key, ctrlKey, shiftKey, altKey, metaKey, isComposing } = event
  // Ctrl V pastes.
  const isTyped = ctrlKey ? !shiftKey && /^[a-uw-z]$/.test(key) : key.length === 1 || (!shiftKey && lineKeys.test(key))
  if (altKey || metaKey || isComposing || !isTyped) return undefined
  return keyBytes(key, { ctrl: ctrlKey, alt: false }, applicationCursorKeysMode)
}

/** Done when what was drawn until now is on the screen; of a page that is not looked at, at once. */
const nextFrame = () =>
  new Promise<void>((drawn) => {
    if (document.visibilityState !== 'visible') return drawn()
    requestAnimationFrame(() => setTimeout(drawn))
  })

/** A pane that has not come by then may never come, and its terminal would keep the keyboard from another page. */
const untakenMs = 20_000

const closeAhead = () => {
  void ahead?.started.then((each) => each.close()).catch(() => undefined)
  ahead = undefined
}

/** The terminal that was started ahead in `screen`, to be taken once. */
export const takeStarted = (screen: HTMLElement, { name }: TerminalTarget): Promise<StartedTerminal> | undefined => {
  if (ahead?.screen !== screen || ahead.session !== name) {
    closeAhead()
    return undefined
  }
  const { started, stopKeys } = ahead
  ahead = undefined
  // Until then keys are kept here: who takes it hears them from then on.
  return complete(started).finally(stopKeys)
}

/** A console on this machine is reached without any network. */
const isLoopback = typeof location === 'object' && /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname)
