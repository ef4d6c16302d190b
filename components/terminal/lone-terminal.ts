import type { TerminalTarget } from '#lib/terminal/page/address.ts'
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
