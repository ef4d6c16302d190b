import type { TerminalMark } from '#lib/protocol/terminals.ts'
import type { Core, Lines } from '#lib/terminal/xterm/internals.ts'
import { commandMark, readOsc } from '#lib/terminal/xterm/osc.ts'

const maxMarks = 5000
/** Anything after the letter and status, such as the command's text, is ignored. */
const maxMarkLength = 64

interface Mark extends TerminalMark {
  /** Counts every line since the start, so it doesn't change when lines scroll out. */
  line: number
}

/** Command marks (OSC 133). xterm's own markers run code for every scrolled line. */
export class CommandMarks {
  readonly #core: Core
  #marks: Mark[] = []
  #lines: Lines | undefined
  #trimmed = 0

  constructor(core: Core) {
    this.#core = core
    this.#follow()
    readOsc(core, 133, maxMarkLength, (data) => this.#add(data))
    for (const prefix of [undefined, '?'])
      core._inputHandler.registerCsiHandler(prefix ? { prefix, final: 'J' } : { final: 'J' }, ({ params }) => {
        this.#erase(params[0] ?? 0)
        return false
      })
  }

  /** Marks on lines from `first` on, in order. */
  from(first: number): TerminalMark[] {
    this.#follow()
    const start = this.#trimmed + first
    return this.#marks.filter(({ line }) => line >= start).map((mark) => ({ ...mark, line: mark.line - start }))
  }

  #add(text: string): void {
    const { buffers } = this.#core
    const parsed = commandMark(text)
    if (!parsed || buffers.active !== buffers.normal) return
    this.#follow()
    const { ybase, y, x } = buffers.normal
    const mark: Mark = {
      line: this.#trimmed + ybase + y,
      column: Math.min(x, this.#core.cols - 1),
      kind: parsed.kind,
      at_ms: Date.now(),
    }
    if (parsed.exitCode !== undefined) mark.exit_code = parsed.exitCode
    // Marks usually arrive in order, unless a program moved the cursor up.
    const after = this.#marks.findLastIndex(({ line }) => line <= mark.line) + 1
    this.#marks.splice(after, 0, mark)
    if (this.#marks.length > maxMarks) this.#marks.shift()
  }

  /** A reset replaces the line buffer. */
  #follow(): void {
    const { lines } = this.#core.buffers.normal
    if (lines === this.#lines) return
    this.#lines = lines
    this.#trimmed = 0
    this.#marks = []
    lines.onTrim((amount) => {
      if (lines !== this.#lines) return
      this.#trimmed += amount
      while (this.#marks[0] && this.#marks[0].line < this.#trimmed) this.#marks.shift()
    })
    lines.onInsert(({ index, amount }) => this.#move(lines, index, 0, amount))
    lines.onDelete(({ index, amount }) => this.#move(lines, index, amount, 0))
  }

  #move(lines: Lines, index: number, removed: number, inserted: number): void {
    if (lines !== this.#lines) return
    const first = this.#trimmed + index
    // Lines that move are on the screen, at the end of the list.
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
