import { terminalSettings } from '#lib/console/terminal-settings.ts'
import type { TerminalOpening } from '#lib/contract/terminal-relay.ts'

type Room = Pick<TerminalOpening, 'cols' | 'rows'>

const storageKey = 'devdeck:terminal-room'

/** All that tells how many cells a terminal has in an element, without having drawn one. */
const surroundings = (element: HTMLElement): string => {
  const { fontFamily, fontSize, lineHeight, scrollback, renderer } = terminalSettings.get()
  const { clientWidth, clientHeight } = element
  return JSON.stringify([
    clientWidth,
    clientHeight,
    devicePixelRatio,
    fontFamily,
    fontSize,
    lineHeight,
    scrollback,
    renderer,
  ])
}

/** As many cells as a terminal had when one was last drawn here like this; a guess that is nearly always right. */
export const rememberedRoom = (element: HTMLElement): Room | undefined => {
  try {
    const { here, cols, rows } = JSON.parse(localStorage.getItem(storageKey) ?? '{}')
    return here === surroundings(element) && cols > 0 && rows > 0 ? { cols, rows } : undefined
  } catch {
    return undefined
  }
}

export const rememberRoom = (element: HTMLElement, { cols, rows }: Room): void => {
  try {
    localStorage.setItem(storageKey, JSON.stringify({ here: surroundings(element), cols, rows }))
  } catch {
    // Full or switched off: then each terminal is drawn before it is asked for.
  }
}
