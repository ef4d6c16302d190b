import type { IBuffer, Terminal } from '@xterm/xterm'
import type { TerminalMark, TerminalNotice } from '#lib/protocol/terminals.ts'
import { moveAboveNewShell, WholeCharacters } from '#lib/terminal/xterm/characters.ts'
import { AckCounter } from './ack-counter.ts'

export type TerminalScreen = Pick<
  Terminal,
  'cols' | 'rows' | 'write' | 'resize' | 'buffer' | 'scrollToLine' | 'parser' | 'options'
>

export type Snapshot = Extract<TerminalNotice, { t: 'snap' }>

/** Writes output and snapshots to the screen in the order they arrived. */
export class TerminalPainter {
  readonly #screen: TerminalScreen
  readonly #markListeners = new Set<(marks: readonly TerminalMark[]) => void>()
  #acks = new AckCounter(() => {})
  #characters = new WholeCharacters()
  #isRestoring = false

  constructor(screen: TerminalScreen) {
    this.#screen = screen
  }

  /** A snapshot is being parsed; reports from the screen meanwhile are repeats. */
  get isRestoring(): boolean {
    return this.#isRestoring
  }

  onMarks(listener: (marks: readonly TerminalMark[]) => void): () => void {
    this.#markListeners.add(listener)
    return () => void this.#markListeners.delete(listener)
  }

  begin(ack: (bytes: number) => void) {
    this.#acks.stop()
    this.#acks = new AckCounter(ack)
  }

  output(bytes: Uint8Array) {
    const acks = this.#acks
    this.#screen.write(this.#characters.take(bytes), () => acks.parsed(bytes.length))
  }

  /** Replaces the screen and keeps the reading position. `below` moves the old screen into the scrollback. */
  restore(snapshot: Snapshot, bytes: Uint8Array, { below }: { below: boolean }, restored: () => void) {
    const screen = this.#screen
    const acks = this.#acks
    this.#characters = new WholeCharacters()
    let returnToPlace: ReturnType<typeof readingPosition>
    let firstLine = 0
    screen.write('', () => {
      returnToPlace = readingPosition(screen)
      screen.resize(snapshot.cols, snapshot.rows)
      this.#isRestoring = true
    })
    if (below) {
      screen.write(moveAboveNewShell(snapshot))
      screen.write('', () => {
        firstLine = screen.buffer.normal.baseY
      })
    }
    screen.write(below ? withoutReset(bytes) : bytes, () => {
      this.#isRestoring = false
      const marks = snapshot.marks.map((mark) => ({ ...mark, line: mark.line + firstLine }))
      for (const listener of this.#markListeners) listener(marks)
      restored()
      returnToPlace?.(screen)
      acks.parsed(bytes.length)
    })
  }

  afterwards(run: () => void) {
    this.#screen.write('', run)
  }

  stop() {
    this.#acks.stop()
  }
}

const withoutReset = (bytes: Uint8Array): Uint8Array => {
  const end = bytes.subarray(0, 8).findIndex((byte, at) => byte === 0x63 && bytes[at - 1] === 0x1b)
  return bytes.subarray(end + 1)
}

/** Reading position of a user who has scrolled up, to restore after the screen is replaced. */
const readingPosition = ({
  buffer: { normal },
  rows,
}: TerminalScreen): ((screen: TerminalScreen) => void) | undefined => {
  const fromBottom = normal.baseY - normal.viewportY
  if (fromBottom <= 0) return undefined
  const lines = linesOf(normal, normal.viewportY, rows)
  return (screen) => {
    const now = screen.buffer.normal
    const expected = Math.max(0, now.baseY - fromBottom)
    screen.scrollToLine(placeOf(lines, now, expected) ?? expected)
  }
}

const linesOf = (buffer: IBuffer, from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => buffer.getLine(from + index)?.translateToString(true) ?? '')

/** The same lines, nearest above their expected position. Rewrapped lines aren't found. */
const placeOf = (lines: readonly string[], buffer: IBuffer, expected: number): number | undefined => {
  for (let line = expected; line >= 0; line--) {
    if (lines.every((text, index) => buffer.getLine(line + index)?.translateToString(true) === text)) return line
  }
  return undefined
}
