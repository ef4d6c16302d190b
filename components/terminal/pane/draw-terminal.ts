import { FitAddon } from '@xterm/addon-fit'
import type { WebglAddon } from '@xterm/addon-webgl'
import { type ITerminalOptions, Terminal } from '@xterm/xterm'
import { onMediaChange } from '#lib/browser/frame/use-media.ts'
import { fontFamilyCss, type TerminalSettings, terminalSettings } from '#lib/terminal/page/settings.ts'
import { boundXterm } from '#lib/terminal/xterm/bounds.ts'
import { onThemeChange, terminalTheme } from './terminal-theme.ts'

export interface DrawnTerminal {
  terminal: Terminal
  /** Cells that fit; undefined while hidden. */
  available(): { cols: number; rows: number } | undefined
  onCells(changed: () => void): void
  close(): void
}

/** Creates an xterm in `element` and applies settings as they change. */
export const drawTerminal = async (element: HTMLElement): Promise<DrawnTerminal> => {
  const settings = terminalSettings.get()
  showTheme(element, settings.theme)
  const options = terminalOptions(settings, element)
  // xterm measures cells once, so the font must be loaded first.
  const font = `${options.fontSize}px ${options.fontFamily}`
  if (!document.fonts.check(font)) await document.fonts.load(font).catch(() => undefined)
  const terminal = new Terminal({
    ...options,
    allowProposedApi: true,
    // The only way to select on a Mac while a program uses the mouse.
    macOptionClickForcesSelection: true,
    rescaleOverlappingGlyphs: true,
    // Full-screen programs save and restore the shell's title.
    windowOptions: { pushTitle: true, popTitle: true },
    // Warnings would contain devbox output.
    logLevel: 'off',
    // Links are inert until a handler is added.
    linkHandler: { activate: () => undefined },
  })
  const fitAddon = new FitAddon()
  terminal.loadAddon(fitAddon)
  boundXterm(terminal)
  terminal.open(element)

  let cellsChanged = () => {}
  const renderer = new TerminalRenderer(terminal, element, () => cellsChanged())
  const showLigatures = ligaturesOf(terminal, element)
  const apply = () => {
    const next = terminalSettings.get()
    showTheme(element, next.theme)
    Object.assign(terminal.options, terminalOptions(next, element))
    cellsChanged()
    showLigatures(next.ligatures)
    void renderer.choose(next.renderer)
  }
  const stops = [terminalSettings.subscribe(apply), onThemeChange(apply), onMediaChange(lessMotion, apply)]
  showLigatures(settings.ligatures)
  await renderer.choose(settings.renderer)
  return {
    terminal,
    available: () => (element.clientWidth > 0 && element.clientHeight > 0 ? fitAddon.proposeDimensions() : undefined),
    onCells: (changed) => {
      cellsChanged = changed
    },
    close() {
      for (const stop of stops) stop()
      terminal.dispose()
      showTheme(element, 'app')
    },
  }
}

/** `element` provides the console's font and colors. */
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

/** Runs of operator characters, which fonts may draw as ligatures. */
const operators = (text: string): [number, number][] =>
  [...text.matchAll(/[!-/:-@[-`{-~]{2,}|www/g)].map(({ 0: run, index }) => [index, index + run.length])

const ligaturesOf = (terminal: Terminal, element: HTMLElement) => {
  let joiner: number | undefined
  return (isOn: boolean) => {
    element.toggleAttribute('data-ligatures', isOn)
    if (isOn) joiner ??= terminal.registerCharacterJoiner(operators)
    else if (joiner !== undefined) {
      terminal.deregisterCharacterJoiner(joiner)
      joiner = undefined
    }
  }
}

const lessMotion = '(prefers-reduced-motion: reduce)'

/** Applies the terminal's theme to the pane around it. */
const showTheme = (element: HTMLElement, theme: TerminalSettings['theme']) => {
  const pane = element.parentElement ?? element
  if (theme === 'app') delete pane.dataset.theme
  else pane.dataset.theme = theme
  pane.classList.toggle('bg-surface-0', theme !== 'app')
  pane.classList.toggle('text-text', theme !== 'app')
}

type Choice = TerminalSettings['renderer']
type Renderer = 'webgl' | 'dom'

/** Draws a terminal with WebGL where it works and is faster, otherwise with xterm's DOM renderer. */
class TerminalRenderer {
  readonly #terminal: Terminal
  readonly #element: HTMLElement
  readonly #cellsChanged: () => void
  #choice: Choice = 'dom'
  #addon: WebglAddon | undefined
  /** No context was available, or it was lost. */
  #hasFailed = false

  constructor(terminal: Terminal, element: HTMLElement, cellsChanged: () => void) {
    this.#terminal = terminal
    this.#element = element
    this.#cellsChanged = cellsChanged
    element.dataset.renderer = 'dom'
  }

  /** Resolves once the terminal is drawn with its final renderer. */
  async choose(choice: Choice): Promise<void> {
    this.#choice = forced ?? choice
    if (!this.#wantsWebgl) return this.#showDom()
    if (this.#addon) return this.#switched('webgl')
    const { WebglAddon } = await import('@xterm/addon-webgl')
    if (this.#addon || !this.#wantsWebgl) return
    const addon = new WebglAddon()
    addon.onContextLoss(() => {
      this.#hasFailed = true
      this.#showDom()
    })
    try {
      this.#terminal.loadAddon(addon)
      this.#addon = addon
      this.#switched('webgl')
    } catch {
      this.#hasFailed = true
      addon.dispose()
    }
  }

  get #wantsWebgl(): boolean {
    return !this.#hasFailed && (this.#choice === 'webgl' || (this.#choice === 'auto' && hasGraphicsChip()))
  }

  #showDom() {
    if (!this.#addon) return
    this.#addon.dispose()
    this.#addon = undefined
    this.#switched('dom')
  }

  #switched(renderer: Renderer) {
    const { options } = this.#terminal
    this.#element.dataset.renderer = renderer
    // WebGL rounds cells to whole pixels, usually down; spacing gets the nearest width.
    options.letterSpacing =
      renderer === 'webgl' ? Math.round(cellPixels(`${options.fontSize}px ${options.fontFamily}`) % 1) : 0
    this.#cellsChanged()
  }
}

const cellPixels = (font: string): number => {
  const context = document.createElement('canvas').getContext('2d')
  if (!context) return 0
  context.font = font
  return context.measureText('W').width * devicePixelRatio
}

/** `?renderer=dom` or `webgl` for comparisons. */
const forced: Choice | undefined = (() => {
  const asked = typeof location === 'object' ? new URLSearchParams(location.search).get('renderer') : null
  return asked === 'dom' || asked === 'webgl' ? asked : undefined
})()

let graphicsChip: boolean | undefined

/** Software WebGL is several times slower than the DOM renderer. Cached, because checking takes a context. */
const hasGraphicsChip = (): boolean => {
  graphicsChip ??= findGraphicsChip()
  return graphicsChip
}

const findGraphicsChip = (): boolean => {
  const context = document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true })
  if (!context) return false
  const unmasked = context.getExtension('WEBGL_debug_renderer_info')?.UNMASKED_RENDERER_WEBGL
  const name = String(context.getParameter(unmasked ?? context.RENDERER))
  context.getExtension('WEBGL_lose_context')?.loseContext()
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name)
}
