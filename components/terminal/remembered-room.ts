import { storedPreference } from '#lib/console/frame/preferences.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import type { TerminalOpening } from '#lib/wire/terminals.ts'

export type Room = Pick<TerminalOpening, 'cols' | 'rows'>

interface Remembered extends Room {
  surroundings: string
  width: number
  height: number
}

const storageKey = 'devdeck:terminal-room'

/** All that tells how many cells a terminal has in an element of some size, and nearly all that tells that size. */
const surroundings = (): string => {
  const { fontFamily, fontSize, lineHeight, scrollback, renderer } = terminalSettings.get()
  return JSON.stringify([
    innerWidth,
    innerHeight,
    devicePixelRatio,
    new URLSearchParams(location.search).get('full'),
    storedPreference('sidebar'),
    storedPreference('isolationNotice'),
    fontFamily,
    fontSize,
    lineHeight,
    scrollback,
    renderer,
  ])
}

/** As many cells as the last terminal had that was drawn in such a window: a guess that is often right. */
export const expectedRoom = (): Remembered | undefined => {
  try {
    const remembered: Remembered = JSON.parse(localStorage.getItem(storageKey) ?? '{}')
    const { cols, rows } = remembered
    return remembered.surroundings === surroundings() && cols > 0 && rows > 0 ? remembered : undefined
  } catch {
    return undefined
  }
}

/** As many cells as a terminal had when one was last drawn here like this; a guess that is nearly always right. */
export const rememberedRoom = ({ clientWidth, clientHeight }: HTMLElement): Room | undefined => {
  const { width, height, cols, rows } = expectedRoom() ?? {}
  return cols && rows && width === clientWidth && height === clientHeight ? { cols, rows } : undefined
}

export const rememberRoom = ({ clientWidth, clientHeight }: HTMLElement, { cols, rows }: Room): void => {
  const room: Remembered = { surroundings: surroundings(), width: clientWidth, height: clientHeight, cols, rows }
  try {
    localStorage.setItem(storageKey, JSON.stringify(room))
  } catch {
    // Full or switched off: then each terminal is drawn before it is asked for.
  }
}
