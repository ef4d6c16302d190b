import type { TerminalMark } from '#lib/protocol/terminals.ts'
import { TerminalModes } from '#lib/terminal/serialize/modes.ts'
import { OpenSequence } from '#lib/terminal/serialize/open-sequence.ts'
import { ScreenWriter } from '#lib/terminal/serialize/screen.ts'
import { incompleteTail, WholeCharacters } from '#lib/terminal/xterm/characters.ts'
import { openXterm } from '#lib/terminal/xterm/headless.ts'
import type { Core, Lines } from '#lib/terminal/xterm/internals.ts'
import { commandMark, readOsc } from '#lib/terminal/xterm/osc.ts'
import { hasOtherWaiters, scheduleTurn } from '../limits/fair-scheduler.ts'
import { Allowance } from './allowance.ts'

/** Yields to the event loop after this long, so that a flood doesn't delay other terminals' keystrokes. */
const turnMs = 6
/** The same while other accounts are waiting. */
const sharedTurnMs = 2
/** Bytes parsed between clock checks. Four bytes can touch every cell (CSI 2J): 0.1 s at worst. */
const slice = { least: 64, most: 64 * 1024, cells: 2 ** 28, ms: 3 }
/** A cell takes 12 bytes. */
const maxCells = 2 * 1024 * 1024
/** A program that queries more often isn't waiting for answers. */
const answers = { burst: 200, perSecond: 200 }

interface MirrorOptions {
  cols: number
  rows: number
  scrollback: number
  account?: string
  answer(bytes: string): void
  /** Output could not be parsed; the mirror continues with an empty screen. */
  failed?(error: unknown): void
}

export interface TerminalSnapshot {
  /** Resets any terminal of this size and makes it look and behave like the mirror. */
  bytes: Uint8Array
  cols: number
  rows: number
  marks: TerminalMark[]
}

interface Piece {
  bytes: Uint8Array
  at: number
  parsed: (() => void) | undefined
}

type Step = Piece | { run: () => void }

/** Parses everything a shell prints and restores pages. The only one to respond to terminal queries. */
export class TerminalMirror {
  readonly #options: MirrorOptions
  #scrollback: number
  #core: Core
  #modes: TerminalModes
  #marks: CommandMarks
  #open = new OpenSequence()
  readonly #characters = new WholeCharacters()
  #steps: Step[] = []
  #pendingBytes = 0
  #sliceBytes = slice.most
  #isWaiting = false
  #isDisposed = false
  readonly #answers = new Allowance(answers)

  constructor(options: MirrorOptions) {
    this.#options = options
    this.#scrollback = options.scrollback
    ;({ core: this.#core, modes: this.#modes, marks: this.#marks } = this.#begin())
  }

  get title(): string {
    return this.#modes.title
  }

  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** Limited by memory: wide terminals keep fewer lines. */
  set scrollback(lines: number) {
    this.#scrollback = lines
    this.#core.options.scrollback = this.#affordable(lines)
  }

  write(bytes: Uint8Array, parsed?: () => void): void {
    if (this.#isDisposed) return
    const whole = this.#characters.take(bytes)
    this.#pendingBytes += whole.length
    this.#take({ bytes: whole, at: 0, parsed })
  }

  /** Takes effect after everything written before. */
  resize(cols: number, rows: number): void {
    this.#take({
      run: () => {
        this.#core.resize(cols, rows)
        this.#core.options.scrollback = this.#affordable(this.#scrollback)
      },
    })
  }

  /** Takes effect after everything written before, without ending a sequence that has only partly arrived. */
  clearScrollback(): void {
    this.#take({
      run: () => {
        const { normal } = this.#core.buffers
        const removed = normal.ybase
        // Marks follow by the lines' trim event.
        normal.lines.trimStart(removed)
        normal.ybase = normal.ydisp = 0
        normal.savedY = Math.max(0, normal.savedY - removed)
      },
    })
  }

  /** Calls `done` once everything written before is parsed, synchronously if it already is. */
  snapshot(scrollbackLines: number, done: (snapshot: TerminalSnapshot) => void): void {
    const { rest } = this.#characters
    const run = () => done(this.#snapshot(scrollbackLines, rest))
    if (this.#isDisposed) return
    if (this.#steps.length === 0) run()
    else this.#take({ run })
  }

  dispose(): void {
    this.#isDisposed = true
    this.#steps = []
    this.#pendingBytes = 0
    this.#core.dispose()
  }

  #begin() {
    const { cols, rows } = this.#core ?? this.#options
    const core = openXterm({ cols, rows, scrollback: this.#affordable(this.#scrollback, cols) })
    core.onData((text) => this.#answer(text))
    return { core, modes: new TerminalModes(core), marks: new CommandMarks(core) }
  }

  #affordable(lines: number, cols = this.#core.cols): number {
    return Math.min(lines, Math.floor(maxCells / cols))
  }

  #take(step: Step): void {
    if (this.#isDisposed) return
    this.#steps.push(step)
    this.#goOn()
  }

  #goOn(): void {
    // Bypasses xterm's write queue: its timer waits at least a millisecond, and its errors can't be caught.
    if (this.#steps.length === 0 || this.#isWaiting) return
    this.#isWaiting = true
    scheduleTurn(this.#options.account ?? '', () => this.#turn())
  }

  #turn(): void {
    this.#isWaiting = false
    const end = performance.now() + (hasOtherWaiters() ? sharedTurnMs : turnMs)
    let taken = 0
    try {
      for (let now = 0; now < end && taken < this.#steps.length; now = performance.now()) {
        const step = this.#steps[taken]
        if (!step) break
        if ('run' in step) {
          taken++
          step.run()
        } else if (this.#parseSome(step)) {
          taken++
          step.parsed?.()
        }
      }
    } finally {
      this.#steps.splice(0, taken)
      this.#goOn()
    }
  }

  /** Parses one slice. Returns true when the chunk is complete. */
  #parseSome(step: Piece): boolean {
    const { bytes, at } = step
    const { cols, rows } = this.#core
    const most = Math.max(slice.least, Math.min(this.#sliceBytes, Math.floor(slice.cells / (cols * rows))))
    let piece = bytes.subarray(at, at + most)
    if (at + piece.length < bytes.length) piece = piece.subarray(0, piece.length - incompleteTail(piece))
    const began = performance.now()
    try {
      this.#core._inputHandler.parse(piece)
      this.#open.parsed(piece, this.#core._inputHandler._parser.currentState)
    } catch (error) {
      this.#restartParser(error)
    }
    const tookMs = performance.now() - began
    if (tookMs > slice.ms) this.#sliceBytes = Math.max(slice.least, Math.floor((this.#sliceBytes * slice.ms) / tookMs))
    else if (tookMs < slice.ms / 2) this.#sliceBytes = Math.min(slice.most, this.#sliceBytes * 2)
    step.at += piece.length
    this.#pendingBytes -= piece.length
    return step.at >= bytes.length
  }

  #restartParser(error: unknown): void {
    const before = this.#core
    ;({ core: this.#core, modes: this.#modes, marks: this.#marks } = this.#begin())
    this.#open = new OpenSequence()
    before.dispose()
    this.#options.failed?.(error)
  }

  #snapshot(scrollbackLines: number, rest: Uint8Array): TerminalSnapshot {
    const { cols, rows, buffers } = this.#core
    const { normal, alt, active } = buffers
    const first = Math.max(0, normal.ybase - scrollbackLines)
    const to = new ScreenWriter(this.#core, this.#modes.linkOf)
    // CAN first: a sequence cut off in the page's terminal would swallow the reset.
    to.add('\x18\x1bc')
    this.#modes.before(to)
    to.screen(normal, first)
    this.#modes.ofScreen(normal, to)
    if (active === alt) {
      to.add('\x1b[?47h\x1b[H')
      to.screen(alt, 0)
      this.#modes.ofScreen(alt, to)
    }
    this.#modes.after(to)
    to.append(this.#open.bytes)
    to.append(rest)
    return { bytes: to.bytes, cols, rows, marks: this.#marks.from(first) }
  }

  /** Forwards only numeric responses: text could run as a command in the shell. */
  #answer(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: every answer begins with one
    if (!/^\x1b\[[?>]?[\d;]*(\$y|[cnR])$/.test(text)) return
    if (this.#answers.left < 1) return
    this.#answers.spend(1)
    this.#options.answer(text)
  }
}

const maxMarks = 5000
/** Anything after the letter and status, such as the command's text, is ignored. */
const maxMarkLength = 64

interface Mark extends TerminalMark {
  /** Counts every line since the start, so it doesn't change when lines scroll out. */
  line: number
}

/** Command marks (OSC 133). xterm's own markers run code for every scrolled line. */
class CommandMarks {
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
