import type { WebglAddon } from '@xterm/addon-webgl'
import type { ITerminalOptions, Terminal } from '@xterm/xterm'
import type { TerminalSettings } from '#lib/terminal/page/settings.ts'

type Choice = TerminalSettings['renderer']
type Renderer = 'webgl' | 'dom'

/** Browsers allow about sixteen WebGL contexts per page and drop the oldest without notice. */
const maxContexts = 8
/** A graphics driver that keeps resetting won't stop. */
const maxLosses = 3

/** Renderers with a context, most recently visible last. */
const withContext: TerminalRenderer[] = []

/**
 * Draws a terminal with WebGL where it works and is faster, otherwise with xterm's DOM renderer. `cellsChanged` is
 * called after switching, because they measure cells differently.
 */
export class TerminalRenderer {
  readonly #terminal: Terminal
  readonly #element: HTMLElement
  readonly #cellsChanged: () => void
  readonly #observer: IntersectionObserver
  #choice: Choice = 'dom'
  #addon: WebglAddon | undefined
  #losses = 0
  #isVisible: boolean
  #isOver = false

  constructor(terminal: Terminal, element: HTMLElement, cellsChanged: () => void) {
    this.#terminal = terminal
    this.#element = element
    this.#cellsChanged = cellsChanged
    this.#isVisible = element.clientWidth > 0
    element.dataset.renderer = 'dom'
    this.#observer = new IntersectionObserver((entries) => {
      const isVisible = entries.at(-1)?.isIntersecting ?? false
      if (isVisible === this.#isVisible) return
      this.#isVisible = isVisible
      void this.#update()
    })
    this.#observer.observe(element)
  }

  /** Resolves once the terminal is drawn with its final renderer. */
  choose(choice: Choice): Promise<void> {
    this.#choice = forced ?? choice
    return this.#update()
  }

  dispose(): void {
    this.#isOver = true
    this.#observer.disconnect()
    this.giveBack()
  }

  async #update() {
    const isWanted =
      this.#losses < maxLosses && (this.#choice === 'webgl' || (this.#choice === 'auto' && hasGraphicsChip()))
    if (!isWanted) return this.giveBack()
    if (!this.#isVisible) return
    if (this.#addon) {
      withContext.push(...withContext.splice(withContext.indexOf(this), 1))
      return this.#notify('webgl')
    }
    const { WebglAddon } = await import('@xterm/addon-webgl')
    // State may have changed while the addon was loading.
    if (this.#isOver || this.#addon || !this.#isVisible || this.#choice === 'dom' || !freeTerminalSlot()) return
    const addon = new WebglAddon()
    addon.onContextLoss(() => {
      this.#losses += 1
      this.giveBack()
    })
    try {
      this.#terminal.loadAddon(addon)
    } catch {
      // No context available: stay with the DOM renderer.
      this.#losses = maxLosses
      addon.dispose()
      return
    }
    this.#addon = addon
    withContext.push(this)
    this.#notify('webgl')
  }

  get isVisible() {
    return this.#isVisible
  }

  /** Hidden terminals give up their context. */
  giveBack() {
    const addon = this.#addon
    if (!addon) return
    this.#addon = undefined
    withContext.splice(withContext.indexOf(this), 1)
    const canvases = [...(this.#terminal.element?.querySelectorAll('canvas') ?? [])]
    addon.dispose()
    // Released explicitly, because a context counts until it is garbage collected.
    for (const canvas of canvases) canvas.getContext('webgl2')?.getExtension('WEBGL_lose_context')?.loseContext()
    if (!this.#isOver) this.#notify('dom')
  }

  #notify(renderer: Renderer) {
    this.#element.dataset.renderer = renderer
    this.#space(renderer)
    this.#cellsChanged()
  }

  /** WebGL rounds cells to whole pixels, usually down; adds spacing to get the nearest width. */
  #space(renderer: Renderer) {
    const { options } = this.#terminal
    const letterSpacing = renderer === 'webgl' ? Math.round(cellPixels(options) % 1) : 0
    if (options.letterSpacing !== letterSpacing) options.letterSpacing = letterSpacing
  }
}

const cellPixels = ({ fontSize, fontFamily }: ITerminalOptions): number => {
  const context = document.createElement('canvas').getContext('2d')
  if (!context) return 0
  context.font = `${fontSize}px ${fontFamily}`
  return context.measureText('W').width * devicePixelRatio
}

const freeTerminalSlot = (): boolean => {
  if (withContext.length < maxContexts) return true
  const hidden = withContext.find(({ isVisible }) => !isVisible)
  hidden?.giveBack()
  return hidden !== undefined
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
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('webgl2', { failIfMajorPerformanceCaveat: true })
  if (!context) return false
  const unmasked = context.getExtension('WEBGL_debug_renderer_info')?.UNMASKED_RENDERER_WEBGL
  const name = String(context.getParameter(unmasked ?? context.RENDERER))
  context.getExtension('WEBGL_lose_context')?.loseContext()
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name)
}
