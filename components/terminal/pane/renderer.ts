import type { WebglAddon } from '@xterm/addon-webgl'
import type { ITerminalOptions, Terminal } from '@xterm/xterm'
import type { TerminalSettings } from '#lib/terminal/page/settings.ts'

type Choice = TerminalSettings['renderer']
type Renderer = 'webgl' | 'dom'

/** Browsers keep some sixteen contexts for a page and take the oldest away without asking; other parts may want some. */
const maxContexts = 8
/** A graphics driver that resets over and over will not stop. */
const maxLosses = 3

/** Those with a context, the one looked at last at the end. */
const withContext: TerminalRenderer[] = []

/**
 * Draws one terminal: by WebGL where that is faster and works, otherwise as elements of the page, which xterm does by
 * itself. `cellsChanged` is called after each change from one to the other, as they measure cells otherwise.
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

  /** Done when the terminal is drawn as it will be. */
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
      // The font may be another one.
      return this.#tell('webgl')
    }
    const { WebglAddon } = await import('@xterm/addon-webgl')
    // All of it may have changed while the code was loaded.
    if (this.#isOver || this.#addon || !this.#isVisible || this.#choice === 'dom' || !freeContext()) return
    const addon = new WebglAddon()
    addon.onContextLoss(() => {
      this.#losses += 1
      this.giveBack()
    })
    try {
      this.#terminal.loadAddon(addon)
    } catch {
      // No context to be had: the terminal goes on as elements.
      this.#losses = maxLosses
      addon.dispose()
      return
    }
    this.#addon = addon
    withContext.push(this)
    this.#tell('webgl')
  }

  get isVisible() {
    return this.#isVisible
  }

  /** A hidden one leaves its context to one that is looked at, and gets another when it is looked at itself. */
  giveBack() {
    const addon = this.#addon
    if (!addon) return
    this.#addon = undefined
    withContext.splice(withContext.indexOf(this), 1)
    const canvases = [...(this.#terminal.element?.querySelectorAll('canvas') ?? [])]
    addon.dispose()
    // Not left to the garbage collector: until then it would count.
    for (const canvas of canvases) canvas.getContext('webgl2')?.getExtension('WEBGL_lose_context')?.loseContext()
    if (!this.#isOver) this.#tell('dom')
  }

  #tell(renderer: Renderer) {
    this.#element.dataset.renderer = renderer
    this.#space(renderer)
    this.#cellsChanged()
  }

  /** WebGL cuts a cell to whole pixels of the screen, which draws letters together: the nearest is as often one more. */
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

const freeContext = (): boolean => {
  if (withContext.length < maxContexts) return true
  const hidden = withContext.find(({ isVisible }) => !isVisible)
  hidden?.giveBack()
  return hidden !== undefined
}

/** `?renderer=dom` or `webgl`, as the page was first opened: to measure one against the other. */
const forced: Choice | undefined = (() => {
  const asked = typeof location === 'object' ? new URLSearchParams(location.search).get('renderer') : null
  return asked === 'dom' || asked === 'webgl' ? asked : undefined
})()

let graphicsChip: boolean | undefined

/** WebGL computed by the processor is several times slower than elements of the page. Asked once: it takes a context. */
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
