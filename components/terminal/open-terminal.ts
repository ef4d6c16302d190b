import type { FitAddon } from '@xterm/addon-fit'
import type { Terminal } from '@xterm/xterm'
import { onThemeChange, terminalTheme } from './terminal-theme.ts'

export interface OpenTerminal {
  terminal: Terminal
  /** Takes on the size of its element; a hidden element has none and changes nothing. */
  fitToElement(): void
  close(): void
}

const fontSize = 13

/** Draws a terminal into `element`. Loads xterm on first use: it is larger than everything else on the page. */
export const openTerminal = async (element: HTMLElement): Promise<OpenTerminal> => {
  const [xterm, addon] = await Promise.all([import('@xterm/xterm'), import('@xterm/addon-fit')])
  const fontFamily = getComputedStyle(element).fontFamily
  // Cells are measured once: with the wrong font in them, every column would be off.
  await document.fonts.load(`${fontSize}px ${fontFamily}`).catch(() => undefined)
  const terminal = new xterm.Terminal({
    fontFamily,
    fontSize,
    lineHeight: 1.25,
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    scrollback: 5000,
    // Programs choose colours for a background they do not know.
    minimumContrastRatio: 4.5,
    macOptionIsMeta: true,
    theme: terminalTheme(),
    linkHandler: { activate: (_event, target) => followLink(target), allowNonHttpProtocols: false },
  })
  const fitAddon: FitAddon = new addon.FitAddon()
  terminal.loadAddon(fitAddon)
  terminal.open(element)
  const stopFollowing = onThemeChange(() => {
    terminal.options.theme = terminalTheme()
  })
  const fitToElement = () => {
    if (element.clientWidth > 0 && element.clientHeight > 0) fitAddon.fit()
  }
  fitToElement()
  return {
    terminal,
    fitToElement,
    close() {
      stopFollowing()
      terminal.dispose()
    },
  }
}

/** A devbox may print any text with any target behind it: the target is shown before it is opened. */
const followLink = (target: string) => {
  const url = URL.parse(target)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return
  if (window.confirm(`Open this address in a new tab?\n\n${url.href.slice(0, 500)}`))
    window.open(url.href, '_blank', 'noopener,noreferrer')
}
