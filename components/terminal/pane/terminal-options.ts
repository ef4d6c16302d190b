import type { ITerminalOptions, Terminal } from '@xterm/xterm'
import { fontFamilyCss, type TerminalSettings } from '#lib/terminal/page/settings.ts'
import { terminalTheme } from './terminal-theme.ts'

/** What xterm is told of the settings. `element` holds the terminal, and with it the console's own font and colours. */
export const terminalOptions = (settings: TerminalSettings, element: HTMLElement): ITerminalOptions => ({
  fontFamily: fontFamilyCss(settings.fontFamily, getComputedStyle(element).fontFamily),
  fontSize: settings.fontSize,
  lineHeight: settings.lineHeight,
  scrollback: settings.scrollback,
  cursorStyle: settings.cursorStyle,
  cursorBlink: settings.cursorBlink && !matchMedia(lessMotion).matches,
  minimumContrastRatio: settings.minimumContrast,
  wordSeparator: settings.wordSeparators,
  macOptionIsMeta: settings.optionIsMeta,
  screenReaderMode: settings.screenReader,
  theme: terminalTheme(element),
})

export const lessMotion = '(prefers-reduced-motion: reduce)'

/** Sets what is another value than before: each that is set is drawn anew. Says whether cells may have another size. */
export const applyOptions = (terminal: Terminal, options: ITerminalOptions): boolean => {
  let cellsChanged = false
  for (const name of Object.keys(options) as (keyof ITerminalOptions)[]) {
    if (isSame(terminal.options[name], options[name])) continue
    Object.assign(terminal.options, { [name]: options[name] })
    if (name === 'fontFamily' || name === 'fontSize' || name === 'lineHeight') cellsChanged = true
  }
  return cellsChanged
}

const isSame = (a: unknown, b: unknown) => a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))
