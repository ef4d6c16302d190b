/** The inner terminal of xterm's browser and headless builds alike. */
interface Core {
  registerCsiHandler(
    id: { prefix?: string; final: string },
    handler: (params: { params: Int32Array }) => boolean,
  ): { dispose(): void }
  readonly buffers: { readonly active: Screen; readonly normal: Screen; readonly alt: Screen }
}

interface Screen {
  readonly x: number
  y: number
  ybase: number
  ydisp: number
  readonly lines: { readonly length: number; maxLength: number; push(line: unknown): void }
  getBlankLine(attributes: { fg: number; bg: number }): unknown
}

interface Terminal {
  readonly cols: number
  readonly rows: number
  onResize(listener: () => void): unknown
}

/**
 * Mends what makes xterm look for lines that are not there, and throw: it takes in nothing more after that. The
 * console's server and its pages do the same, or their screens would differ.
 */
export const mendXterm = (terminal: Terminal): void => {
  const { _core: core } = terminal as unknown as { _core: Core }
  mendErase(terminal, core)
  terminal.onResize(() => {
    for (const screen of [core.buffers.normal, core.buffers.alt]) mendLines(screen, terminal.rows)
    // Has no lines above its screen, but room for them where it was empty while the terminal shrank.
    const { lines } = core.buffers.alt
    if (lines.length <= terminal.rows) lines.maxLength = terminal.rows
  })
}

/** When all is erased up to the last cell and nothing has scrolled away yet, xterm goes on in the line after the last. */
const mendErase = (terminal: Terminal, core: Core): void => {
  for (const id of [{ final: 'J' }, { prefix: '?', final: 'J' }])
    core.registerCsiHandler(id, ({ params }) => {
      const { x, y, lines } = core.buffers.active
      // Up to the last cell is all of it.
      if (params[0] === 1 && x + 1 >= terminal.cols && y + 1 >= lines.length) params[0] = 2
      return false
    })
}

/** A terminal without room for lines above, made smaller and larger again, has fewer lines than its screen. */
const mendLines = (screen: Screen, rows: number): void => {
  const { lines } = screen
  if (lines.length === 0) return
  const above = Math.max(0, lines.maxLength - rows)
  if (screen.ybase > above) {
    screen.y = Math.min(screen.y + screen.ybase - above, rows - 1)
    screen.ydisp = Math.min(screen.ydisp, above)
    screen.ybase = above
  }
  while (lines.length < screen.ybase + rows) lines.push(screen.getBlankLine({ fg: 0, bg: 0 }))
}
