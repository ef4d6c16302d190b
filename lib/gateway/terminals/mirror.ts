import { TerminalModes } from '#lib/terminal/serialize/modes.ts'
import { OpenSequence } from '#lib/terminal/serialize/open-sequence.ts'
import { ScreenWriter } from '#lib/terminal/serialize/screen.ts'
import { incompleteTail, WholeCharacters } from '#lib/terminal/xterm/characters.ts'
import { openXterm } from '#lib/terminal/xterm/headless.ts'
import type { Core } from '#lib/terminal/xterm/internals.ts'
import type { TerminalMark } from '#lib/wire/terminals.ts'
import { Allowance } from './allowance.ts'
import { CommandMarks } from './marks.ts'

/** Then others have their turn: a frame of a flood must not make the keystrokes of another terminal wait. */
const turnMs = 6
/**
 * Bytes parsed without looking at the clock. Four of them may touch every cell (CSI 2J), so that a large terminal gets
 * fewer: a millionth of a second and less for a cell makes 0.1 s at worst.
 */
const slice = { least: 64, most: 64 * 1024, cells: 2 ** 28, ms: 3 }
/** 12 bytes each. */
const maxCells = 2 * 1024 * 1024
/** A program that asks more often is none that waits for the answers. */
const answers = { burst: 200, perSecond: 200 }

interface MirrorOptions {
  cols: number
  rows: number
  scrollback: number
  /** What the shell is to be told, as if it had been typed. */
  answer(bytes: string): void
  /** What was printed could not be parsed: the mirror goes on, empty, with what came after. */
  failed?(error: unknown): void
}

export interface TerminalSnapshot {
  /** For a terminal of this size, in whatever state: resets it, and has it look and behave as the one mirrored. */
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

/**
 * A terminal without a screen that is told all a shell prints. It knows what every page should show, so that a page may
 * come late or fall behind; and it answers what programs ask a terminal, so that exactly one answer is given.
 */
export class TerminalMirror {
  readonly #options: MirrorOptions
  #size: { cols: number; rows: number }
  #scrollback: number
  #core: Core
  #modes: TerminalModes
  #marks: CommandMarks
  #open = new OpenSequence()
  readonly #characters = new WholeCharacters()
  #steps: Step[] = []
  #pendingBytes = 0
  #sliceBytes = slice.most
  #next: NodeJS.Immediate | undefined
  #isDisposed = false
  readonly #answers = new Allowance(answers)

  constructor(options: MirrorOptions) {
    this.#options = options
    this.#size = { cols: options.cols, rows: options.rows }
    this.#scrollback = options.scrollback
    ;({ core: this.#core, modes: this.#modes, marks: this.#marks } = this.#begin())
  }

  /** The size there will be when all that came is parsed. */
  get cols(): number {
    return this.#size.cols
  }

  get rows(): number {
    return this.#size.rows
  }

  get title(): string {
    return this.#modes.title
  }

  /** The folder of the shell, if it tells (OSC 7). */
  get cwd(): string | undefined {
    return this.#modes.folder
  }

  /** Came, and not yet parsed. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** May grow while it runs; a wide terminal is given fewer lines than asked for. */
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

  /** Takes its turn among the bytes. */
  resize(cols: number, rows: number): void {
    this.#size = { cols, rows }
    this.#take({
      run: () => {
        this.#core.resize(cols, rows)
        this.#core.options.scrollback = this.#affordable(this.#scrollback)
      },
    })
  }

  /** Calls `done` when all that came before is parsed and nothing that comes after: at once, if that is so now. */
  snapshot(scrollbackLines: number, done: (snapshot: TerminalSnapshot) => void): void {
    const { rest } = this.#characters
    const run = () => done(this.#snapshot(scrollbackLines, rest))
    if (this.#isDisposed) return
    if (this.#steps.length === 0) run()
    else this.#take({ run })
  }

  /** Nobody is called any more. */
  dispose(): void {
    this.#isDisposed = true
    clearImmediate(this.#next)
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
    // Not xterm's own queue: its timer waits a millisecond at least, and what it throws nobody could catch.
    if (this.#steps.length > 0) this.#next ??= setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#next = undefined
    const end = performance.now() + turnMs
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

  /** True when all of it is parsed. */
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
      this.#beginAnew(error)
    }
    const tookMs = performance.now() - began
    if (tookMs > slice.ms) this.#sliceBytes = Math.max(slice.least, Math.floor((this.#sliceBytes * slice.ms) / tookMs))
    else if (tookMs < slice.ms / 2) this.#sliceBytes = Math.min(slice.most, this.#sliceBytes * 2)
    step.at += piece.length
    this.#pendingBytes -= piece.length
    return step.at >= bytes.length
  }

  #beginAnew(error: unknown): void {
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
    // The reset could not come through a sequence that was cut: CAN ends it without effect.
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

  /** Numbers only: an answer that holds text could be a command to the shell that gets it. */
  #answer(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: every answer begins with one
    if (!/^\x1b\[[?>]?[\d;]*(\$y|[cnR])$/.test(text)) return
    if (this.#answers.left < 1) return
    this.#answers.spend(1)
    this.#options.answer(text)
  }
}
