import { type Core, internalsOf, type Line, type Screen } from './internals.ts'
import { endModesAtPrompt } from './killed-programs.ts'
import { countAsLibc } from './widths.ts'

interface Terminal {
  readonly unicode: { register(provider: Core['unicodeService']['_activeProvider']): void; activeVersion: string }
  onResize(listener: () => void): unknown
}

/**
 * Keeps what a devbox prints from keeping xterm busy for hours, from filling the memory with one letter, and from having
 * it throw, and counts cells as the devbox does. The console's server and its pages both do this, or their screens would
 * differ.
 */
export const boundXterm = (terminal: Terminal): void => {
  const core = internalsOf(terminal)
  boundCounts(core)
  countAsLibc(terminal, core)
  boundAccents(core)
  endModesAtPrompt(core)
  mendErase(core)
  mendSizes(terminal, core)
}

/** What a count does once for each time, and the number from which on more changes nothing that can be seen. */
const counted: readonly [final: string, enough: (core: Core) => number][] = [
  // Lines scrolled up or down, inserted or deleted: after as many as there are, all are blank.
  ['S', ({ rows }) => rows],
  ['T', ({ rows }) => rows],
  ['L', ({ rows }) => rows],
  ['M', ({ rows }) => rows],
  // Tab stops forward and back: no more of them than columns.
  ['I', ({ cols }) => cols],
  ['Z', ({ cols }) => cols],
  // The last character again. Programs repeat it within a line; other terminals end at the line's end, too.
  ['b', ({ cols }) => cols],
]

/** xterm takes every count at its word: `CSI 2147483647 b` repeats a character two thousand million times. */
const boundCounts = (core: Core): void => {
  for (const [final, enough] of counted)
    core._inputHandler.registerCsiHandler({ final }, ({ params, length }) => {
      const most = enough(core)
      if (length > 0 && (params[0] ?? 0) > most) params[0] = most
      // The terminal's own handler comes next, and reads the same array.
      return false
    })
}

/** In UTF-16 units. Real text stacks fewer; the flag of a region has 14. */
const maxJoined = 100
const hasSeveral = 1 << 21
const bounded = new WeakSet<object>()

/** Drops accents beyond a number that no text needs: a devbox could otherwise print them without end onto one letter. */
const boundAccents = (core: Core): void => {
  const lines = Object.getPrototypeOf(core.buffers.normal.lines.get(0)) as Line
  if (bounded.has(lines)) return
  bounded.add(lines)
  const add = lines.addCodepointToCell
  lines.addCodepointToCell = function (this: Line, at, code, width) {
    const several = (this._data[at * 3] ?? 0) & hasSeveral ? this._combined[at] : undefined
    if ((several?.length ?? 0) < maxJoined) add.call(this, at, code, width)
  }
}

/** When all is erased up to the last cell and nothing has scrolled away yet, xterm goes on in the line after the last. */
const mendErase = (core: Core): void => {
  for (const id of [{ final: 'J' }, { prefix: '?', final: 'J' }])
    core._inputHandler.registerCsiHandler(id, ({ params }) => {
      const { x, y, lines } = core.buffers.active
      // To erase up to the last cell is to erase everything (2).
      if (params[0] === 1 && x + 1 >= core.cols && y + 1 >= lines.length) params[0] = 2
      return false
    })
}

/** After some changes of size xterm looks for lines that are not there, and throws: it takes in nothing more then. */
const mendSizes = (terminal: Terminal, core: Core): void => {
  terminal.onResize(() => {
    for (const screen of [core.buffers.normal, core.buffers.alt]) mendLines(screen, core.rows)
    // Has no lines above its screen, but room for them where it was empty while the terminal shrank.
    const { lines } = core.buffers.alt
    if (lines.length <= core.rows) lines.maxLength = core.rows
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
