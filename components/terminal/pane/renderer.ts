import type { WebglAddon } from '@xterm/addon-webgl'
import type { Terminal } from '@xterm/xterm'
import type { TerminalSettings } from '#lib/terminal/page/settings.ts'

type Choice = TerminalSettings['renderer']
type Renderer = 'webgl' | 'dom'

/** Draws a terminal with WebGL where it works and is faster, otherwise with xterm's DOM renderer. */
export class TerminalRenderer {
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
