import { type Core, internalsOf, type Line, type Screen } from './internals.ts'
import { endModesAtPrompt } from './killed-programs.ts'
import { countAsLibc } from './widths.ts'

interface Terminal {
  readonly unicode: { register(provider: Core['unicodeService']['_activeProvider']): void; activeVersion: string }
  onResize(listener: () => void): unknown
}

/** Bounds what output can cost xterm, fixes cases where it throws, and makes cell widths match libc. */
export const boundXterm = (terminal: Terminal): void => {
  const core = internalsOf(terminal)
  boundCounts(core)
  countAsLibc(terminal, core)
  limitCombining(core)
  endModesAtPrompt(core)
  fixErase(core)
  fixSizes(terminal, core)
}

/** CSI sequences that repeat an action, with the count beyond which nothing visible changes. */
const counted: readonly [final: string, enough: (core: Core) => number][] = [
  ['S', ({ rows }) => rows],
  ['T', ({ rows }) => rows],
  ['L', ({ rows }) => rows],
  ['M', ({ rows }) => rows],
  ['I', ({ cols }) => cols],
  ['Z', ({ cols }) => cols],
  // Repeats the last character; other terminals also stop at the end of the line.
  ['b', ({ cols }) => cols],
]

/** xterm takes every count at its word: `CSI 2147483647 b` repeats a character two billion times. */
const boundCounts = (core: Core): void => {
  for (const [final, enough] of counted)
    core._inputHandler.registerCsiHandler({ final }, ({ params, length }) => {
      const most = enough(core)
      if (length > 0 && (params[0] ?? 0) > most) params[0] = most
      // xterm's own handler runs next and reads the same array.
      return false
    })
}

/** UTF-16 units. Real text stacks fewer; a regional flag has 14. */
const maxJoined = 100
const hasSeveral = 1 << 21
const bounded = new WeakSet<object>()

/** Limits combining characters per cell, which could otherwise grow without end. */
const limitCombining = (core: Core): void => {
  const lines = Object.getPrototypeOf(core.buffers.normal.lines.get(0)) as Line
  if (bounded.has(lines)) return
  bounded.add(lines)
  const add = lines.addCodepointToCell
  lines.addCodepointToCell = function (this: Line, at, code, width) {
    const several = (this._data[at * 3] ?? 0) & hasSeveral ? this._combined[at] : undefined
    if ((several?.length ?? 0) < maxJoined) add.call(this, at, code, width)
  }
}

/** After erasing up to the last cell with an empty scrollback, xterm continues below the last line. */
const fixErase = (core: Core): void => {
  for (const id of [{ final: 'J' }, { prefix: '?', final: 'J' }])
    core._inputHandler.registerCsiHandler(id, ({ params }) => {
      const { x, y, lines } = core.buffers.active
      // Erasing up to the last cell is the same as erasing everything (2).
      if (params[0] === 1 && x + 1 >= core.cols && y + 1 >= lines.length) params[0] = 2
      return false
    })
}

/** After some resizes xterm reads lines that don't exist and throws, and then stops parsing. */
const fixSizes = (terminal: Terminal, core: Core): void => {
  terminal.onResize(() => {
    for (const screen of [core.buffers.normal, core.buffers.alt]) fixLines(screen, core.rows)
    // The alternate screen has no scrollback, but keeps room for it after shrinking.
    const { lines } = core.buffers.alt
    if (lines.length <= core.rows) lines.maxLength = core.rows
  })
}

/** Without scrollback, shrinking and growing leaves fewer lines than the screen has rows. */
const fixLines = (screen: Screen, rows: number): void => {
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
