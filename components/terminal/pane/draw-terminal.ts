import { FitAddon } from '@xterm/addon-fit'
import { type ITerminalOptions, Terminal } from '@xterm/xterm'
import { onMediaChange } from '#lib/browser/frame/use-media.ts'
import { fontFamilyCss, type TerminalSettings, terminalSettings } from '#lib/terminal/page/settings.ts'
import { boundXterm } from '#lib/terminal/xterm/bounds.ts'
import { TerminalRenderer } from './renderer.ts'
import { onThemeChange, terminalTheme } from './terminal-theme.ts'

export interface DrawnTerminal {
  terminal: Terminal
  /** How many cells fit into its element; undefined while it is hidden. */
  available(): { cols: number; rows: number } | undefined
  /** Has `changed` called when cells have another size, so that another number of them fits. */
  onCells(changed: () => void): void
  close(): void
}

/** Draws a terminal into `element`, as the settings say and as they change. */
export const drawTerminal = async (element: HTMLElement): Promise<DrawnTerminal> => {
  const settings = terminalSettings.get()
  const surroundings = followTheme(element)
  const options = terminalOptions(settings, element)
  // Cells are measured once: with the wrong font in them, every column would be off.
  const font = `${options.fontSize}px ${options.fontFamily}`
  if (!document.fonts.check(font)) await document.fonts.load(font).catch(() => undefined)
  const terminal = new Terminal({
    ...options,
    allowProposedApi: true,
    // Where a program has the mouse, this is the only way to select on a Mac.
    macOptionClickForcesSelection: true,
    rescaleOverlappingGlyphs: true,
    // Where full-screen programs leave the title of the shell while they show their own.
    windowOptions: { pushTitle: true, popTitle: true },
    // What it would complain of is text of a devbox.
    logLevel: 'off',
    // A link that nothing handles yet leads nowhere.
    linkHandler: { activate: () => undefined },
  })
  const fitAddon = new FitAddon()
  terminal.loadAddon(fitAddon)
  boundXterm(terminal)
  terminal.open(element)

  const listeners: (() => void)[] = []
  const cellsChanged = () => {
    for (const listener of listeners) listener()
  }
  const renderer = new TerminalRenderer(terminal, element, cellsChanged)
  const ligatures = followLigatures(terminal, element)
  const apply = () => {
    const next = terminalSettings.get()
    surroundings.update()
    if (applyOptions(terminal, terminalOptions(next, element))) cellsChanged()
    ligatures.update()
    void renderer.choose(next.renderer)
  }
  const stops = [terminalSettings.subscribe(apply), onThemeChange(apply), onMediaChange(lessMotion, apply)]
  ligatures.update()
  await renderer.choose(settings.renderer)
  return {
    terminal,
    available: () => (element.clientWidth > 0 && element.clientHeight > 0 ? fitAddon.proposeDimensions() : undefined),
    onCells: (changed) => void listeners.push(changed),
    close() {
      for (const stop of stops) stop()
      renderer.dispose()
      terminal.dispose()
      surroundings.end()
    },
  }
}

/** What xterm is told of the settings. `element` holds the terminal, and with it the console's own font and colours. */
const terminalOptions = (settings: TerminalSettings, element: HTMLElement): ITerminalOptions => ({
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

const lessMotion = '(prefers-reduced-motion: reduce)'

/** Sets what is another value than before: each that is set is drawn anew. Says whether cells may have another size. */
const applyOptions = (terminal: Terminal, options: ITerminalOptions): boolean => {
  let cellsChanged = false
  for (const name of Object.keys(options) as (keyof ITerminalOptions)[]) {
    if (isSame(terminal.options[name], options[name])) continue
    Object.assign(terminal.options, { [name]: options[name] })
    if (name === 'fontFamily' || name === 'fontSize' || name === 'lineHeight') cellsChanged = true
  }
  return cellsChanged
}

const isSame = (a: unknown, b: unknown) => a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))

/** What surrounds the screen, and lies over it, has its colours, also where those are not the page's. */
const followTheme = (element: HTMLElement) => {
  const pane = element.parentElement ?? element
  const show = (theme: TerminalSettings['theme']) => {
    if (theme === 'app') delete pane.dataset.theme
    else pane.dataset.theme = theme
    pane.classList.toggle('bg-surface-0', theme !== 'app')
    pane.classList.toggle('text-text', theme !== 'app')
  }
  show(terminalSettings.get().theme)
  return { update: () => show(terminalSettings.get().theme), end: () => show('app') }
}

/** Runs of operator characters, which fonts may draw as ligatures. */
const operators = (text: string): [number, number][] =>
  [...text.matchAll(/[!-/:-@[-`{-~]{2,}|www/g)].map(({ 0: run, index }) => [index, index + run.length])

const followLigatures = (terminal: Terminal, element: HTMLElement) => {
  let joiner: number | undefined
  return {
    update() {
      const { ligatures } = terminalSettings.get()
      element.toggleAttribute('data-ligatures', ligatures)
      if (ligatures) joiner ??= terminal.registerCharacterJoiner(operators)
      else if (joiner !== undefined) {
        terminal.deregisterCharacterJoiner(joiner)
        joiner = undefined
      }
    },
  }
}
