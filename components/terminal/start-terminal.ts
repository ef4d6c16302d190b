import type { Terminal } from '@xterm/xterm'
import { pageIdentity } from '#lib/console/page-identity.ts'
import { isSignedOut } from '#lib/console/signed-out.ts'
import { TerminalSession } from '#lib/console/terminal-session.ts'
import { type DrawnTerminal, drawTerminal } from './draw-terminal.ts'
import { setTerminalTop } from './terminal-top.ts'

declare global {
  interface Window {
    /** The terminal that has or last had the focus, for people's own scripts and measurements. */
    term?: Terminal | undefined
  }
}

export interface TerminalTarget {
  devboxId: string
  name: string
  /** Of a link to follow by, instead of the devbox's own terminal. */
  followToken?: string | undefined
}

/** A terminal that is drawn, with a session that is not connected yet. */
export interface StartedTerminal extends DrawnTerminal {
  session: TerminalSession
}

/** Draws a terminal into `screen`, as large as there is room. */
export const startTerminal = async (screen: HTMLElement, target: TerminalTarget): Promise<StartedTerminal> => {
  const drawn = await drawTerminal(screen)
  const { terminal } = drawn
  const room = drawn.room()
  if (room) terminal.resize(room.cols, room.rows)
  const session = new TerminalSession({
    url: () => `${location.origin.replace(/^http/, 'ws')}${socketPath(target)}`,
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

let ahead: { screen: HTMLElement; session: string; started: Promise<StartedTerminal> } | undefined

/**
 * Starts the terminal of a page as the server sent it, before React has brought that to life: who opens a terminal
 * waits for its prompt. Only where one is shown alone; of several, their sizes are not known yet.
 */
export const startAhead = (): void => {
  // Scripts do not wait for style sheets, and without them nothing has its size or its font.
  const sheets = [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')]
  if (!sheets.every(({ sheet }) => sheet)) return
  const shown = [...document.querySelectorAll<HTMLElement>('[data-terminal-session]')].filter(
    (screen) => screen.clientWidth > 0 && getComputedStyle(screen).visibility === 'visible',
  )
  const [screen] = shown
  const { terminalSession: session, devbox: devboxId } = screen?.dataset ?? {}
  if (!screen || !session || !devboxId || shown.length > 1) return
  setTerminalTop(screen)
  const started = startTerminal(screen, { devboxId, name: session })
  ahead = { screen, session, started }
  // Whoever takes it hears of a failure.
  started.then((each) => each.session.openAhead()).catch(() => undefined)
  setTimeout(closeAhead, untakenMs)
}

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
  const { started } = ahead
  ahead = undefined
  return started
}

const socketPath = ({ devboxId, name, followToken }: TerminalTarget): string =>
  followToken === undefined
    ? `/api/terminals/${encodeURIComponent(devboxId)}/${encodeURIComponent(name)}`
    : `/api/follow/${encodeURIComponent(followToken)}`

/** A console on this machine is reached without any network. */
const isLoopback = typeof location === 'object' && /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname)
