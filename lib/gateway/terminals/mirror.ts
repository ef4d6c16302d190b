import type { TerminalMark } from '#lib/protocol/terminals.ts'
import { TerminalModes } from '#lib/terminal/serialize/modes.ts'
import { OpenSequence } from '#lib/terminal/serialize/open-sequence.ts'
import { ScreenWriter } from '#lib/terminal/serialize/screen.ts'
import { incompleteTail, WholeCharacters } from '#lib/terminal/xterm/characters.ts'
import { openXterm } from '#lib/terminal/xterm/headless.ts'
import type { Core } from '#lib/terminal/xterm/internals.ts'
import { hasOtherWaiters, scheduleTurn } from '../limits/fair-scheduler.ts'
import { Allowance } from './allowance.ts'
import { CommandMarks } from './marks.ts'

/** After this long the mirror lets the event loop go on: a flood must not delay the keystrokes of other terminals. */
const turnMs = 6
/** The same while others wait for their turn. */
const sharedTurnMs = 2
/**
 * How many bytes are parsed between two looks at the clock. Four bytes may touch every cell (CSI 2J), so a large terminal
 * gets fewer: at under a microsecond for a cell that makes 0.1 s at worst.
 */
const slice = { least: 64, most: 64 * 1024, cells: 2 ** 28, ms: 3 }
/** A cell takes 12 bytes. */
const maxCells = 2 * 1024 * 1024
/** A program that asks the terminal more often does not wait for the answers. */
const answers = { burst: 200, perSecond: 200 }

interface MirrorOptions {
  cols: number
  rows: number
  scrollback: number
  /** Whose it is: accounts take turns. */
  account?: string
  /** An answer of the terminal to a program, to be sent to the shell like typed text. */
  answer(bytes: string): void
  /** Output could not be parsed: the mirror goes on with an empty screen and the output after it. */
  failed?(error: unknown): void
}

export interface TerminalSnapshot {
  /** Resets a terminal of this size, whatever its state, and makes it look and behave like the mirrored one. */
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
 * A terminal without a display that parses all a shell prints. It knows what every page should show, so that a page may
 * come late or fall behind, and it answers what programs ask a terminal, so that exactly one answer is given.
 */
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

  /** Bytes that were written and are not parsed yet. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** A wide terminal keeps fewer lines than asked for. */
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

  /** Takes effect after the bytes that were written before. */
  resize(cols: number, rows: number): void {
    this.#take({
      run: () => {
        this.#core.resize(cols, rows)
        this.#core.options.scrollback = this.#affordable(this.#scrollback)
      },
    })
  }

  /** Calls `done` when exactly what was written before is parsed: at once, if it is already. */
  snapshot(scrollbackLines: number, done: (snapshot: TerminalSnapshot) => void): void {
    const { rest } = this.#characters
    const run = () => done(this.#snapshot(scrollbackLines, rest))
    if (this.#isDisposed) return
    if (this.#steps.length === 0) run()
    else this.#take({ run })
  }

  /** No callback runs after this. */
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
    // xterm's own queue is not used: its timer waits a millisecond at least, and nothing could catch what it throws.
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

  /** Parses a slice. True when the whole piece is parsed. */
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
    // CAN first: a sequence that was cut off in the page's terminal would swallow the reset.
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

  /** Passes on numbers only: an answer with text in it could run as a command in the shell. */
  #answer(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: every answer begins with one
    if (!/^\x1b\[[?>]?[\d;]*(\$y|[cnR])$/.test(text)) return
    if (this.#answers.left < 1) return
    this.#answers.spend(1)
    this.#options.answer(text)
  }
}
