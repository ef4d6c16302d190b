import { type EarlySocket, openEarly } from '#lib/console/early-socket.ts'
import { pageIdentity } from '#lib/console/page-identity.ts'
import { openingUrl, type TerminalTarget, terminalUrl } from '#lib/console/terminal-address.ts'
import { terminalSettings } from '#lib/console/terminal-settings.ts'
import { rememberedRoom } from './remembered-room.ts'
import { setTerminalTop } from './terminal-top.ts'

/** A terminal in the page as the server sent it. */
export interface LoneTerminal {
  screen: HTMLElement
  target: TerminalTarget
}

/** The only terminal the page shows; of several, their sizes are not known before React is there. */
export const findLoneTerminal = async (): Promise<LoneTerminal | undefined> => {
  // Scripts do not wait for style sheets, and without them nothing has its size or its font.
  await Promise.all([...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')].map(loaded))
  const shown = [...document.querySelectorAll<HTMLElement>('[data-terminal-session]')].filter(
    (screen) => screen.clientWidth > 0 && getComputedStyle(screen).visibility === 'visible',
  )
  const [screen] = shown
  const { terminalSession: name, devbox: devboxId } = screen?.dataset ?? {}
  if (!screen || !name || !devboxId || shown.length > 1) return undefined
  setTerminalTop(screen)
  return { screen, target: { devboxId, name } }
}

const loaded = (link: HTMLLinkElement) =>
  link.sheet ??
  new Promise((done) => {
    link.addEventListener('load', done)
    link.addEventListener('error', done)
  })

/** A shell on its way to a terminal that is not drawn yet. */
export interface EarlyShell {
  /** The socket it comes by, if there is one by now and it was opened for this size. */
  take(size: { cols: number; rows: number }): EarlySocket | undefined
  /** Gives up what was not taken. */
  leave(): void
}

/** A shell and xterm take as long as each other: where the size can be known, both are begun with at once. */
export const askForShell = ({ screen, target }: LoneTerminal): EarlyShell => {
  const room = rememberedRoom(screen)
  let socket: EarlySocket | undefined
  let isOver = room === undefined
  void pageIdentity().then((client) => {
    if (!room || isOver) return
    const { scrollback } = terminalSettings.get()
    socket = openEarly(openingUrl(terminalUrl(target), { ...room, client, scrollback }))
  })
  return {
    take: ({ cols, rows }) => {
      isOver = true
      const taken = cols === room?.cols && rows === room.rows ? socket : undefined
      if (taken) socket = undefined
      return taken
    },
    leave: () => {
      isOver = true
      socket?.socket.close()
    },
  }
}
