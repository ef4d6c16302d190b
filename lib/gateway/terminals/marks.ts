import type { TerminalMark } from '#lib/protocol/terminals.ts'
import type { Core, Lines } from '#lib/terminal/xterm/internals.ts'
import { commandMark, readOsc } from '#lib/terminal/xterm/osc.ts'

const maxMarks = 5000
/** What follows the letter and the status, such as the text of the command, is not read. */
const maxMarkLength = 64

interface Mark extends TerminalMark {
  /** Counts all lines there ever were, so that it stays the same when lines scroll away. */
  line: number
}

/**
 * Where commands began and ended (OSC 133). Each marker of xterm's own is called for every line that scrolls; these are
 * moved only when lines move on the screen.
 */
export class CommandMarks {
  readonly #core: Core
  #marks: Mark[] = []
  #lines: Lines | undefined
  #trimmed = 0

  constructor(core: Core) {
    this.#core = core
    this.#follow()
    readOsc(core, 133, maxMarkLength, (data) => this.#add(data))
    // Erased lines lose their marks.
    for (const prefix of [undefined, '?'])
      core._inputHandler.registerCsiHandler(prefix ? { prefix, final: 'J' } : { final: 'J' }, ({ params }) => {
        this.#erase(params[0] ?? 0)
        return false
      })
  }

  /** The marks on lines from `first` on, in order. */
  from(first: number): TerminalMark[] {
    this.#follow()
    const start = this.#trimmed + first
    return this.#marks.filter(({ line }) => line >= start).map((mark) => ({ ...mark, line: mark.line - start }))
  }

  #add(text: string): void {
    const { buffers } = this.#core
    const told = commandMark(text)
    if (!told || buffers.active !== buffers.normal) return
    this.#follow()
    const { ybase, y, x } = buffers.normal
    const mark: Mark = {
      line: this.#trimmed + ybase + y,
      column: Math.min(x, this.#core.cols - 1),
      kind: told.kind,
      at_ms: Date.now(),
    }
    if (told.exitCode !== undefined) mark.exit_code = told.exitCode
    // A mark nearly always follows the others; a program may have moved the cursor up.
    const after = this.#marks.findLastIndex(({ line }) => line <= mark.line) + 1
    this.#marks.splice(after, 0, mark)
    if (this.#marks.length > maxMarks) this.#marks.shift()
  }

  /** Listens to the list of lines; a reset makes a new one. */
  #follow(): void {
    const { lines } = this.#core.buffers.normal
    if (lines === this.#lines) return
    this.#lines = lines
    this.#trimmed = 0
    this.#marks = []
    lines.onTrim((amount) => {
      if (lines !== this.#lines) return
      this.#trimmed += amount
      // This runs for every line that scrolls, and nearly always has nothing to do.
      while (this.#marks[0] && this.#marks[0].line < this.#trimmed) this.#marks.shift()
    })
    lines.onInsert(({ index, amount }) => this.#move(lines, index, 0, amount))
    lines.onDelete(({ index, amount }) => this.#move(lines, index, amount, 0))
  }

  #move(lines: Lines, index: number, removed: number, inserted: number): void {
    if (lines !== this.#lines) return
    const first = this.#trimmed + index
    // From the end: the lines that move are on the screen, below thousands of others.
    for (let at = this.#marks.length - 1; at >= 0; at--) {
      const mark = this.#marks[at]
      if (!mark || mark.line < first) break
      if (mark.line < first + removed) this.#marks.splice(at, 1)
      else mark.line += inserted - removed
    }
  }

  #erase(what: number): void {
    const { buffers, rows } = this.#core
    const { normal } = buffers
    if (this.#marks.length === 0 || buffers.active !== normal || what > 2) return
    const top = this.#trimmed + normal.ybase
    const from = top + (what === 0 ? normal.y + (normal.x === 0 ? 0 : 1) : 0)
    const to = top + (what === 1 ? normal.y : rows)
    this.#marks = this.#marks.filter(({ line }) => line < from || line >= to)
  }
}
