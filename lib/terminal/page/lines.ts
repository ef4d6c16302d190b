import type { IBuffer, IBufferLine } from '@xterm/xterm'

/** A line of output in one piece, whatever rows of a terminal it was wrapped into. */
export interface JoinedLine {
  text: string
  /** Its first row in the buffer. */
  row: number
  /** Where in the text each of its rows begins. */
  starts: readonly number[]
}

/** The line that begins in a row, as far as `maxRows`. */
export const joinedLine = (buffer: IBuffer, row: number, maxRows = Number.POSITIVE_INFINITY): JoinedLine => {
  const starts: number[] = []
  let text = ''
  for (let at = row; ; at++) {
    const piece = rowPiece(buffer, at)
    starts.push(text.length)
    text += piece.text
    if (!piece.goesOn || starts.length >= maxRows) return { text, row, starts }
  }
}

/** A row's part of its line, from one column to another; where the line ends, without blanks behind it. */
export const rowPiece = (
  buffer: IBuffer,
  row: number,
  from?: number,
  to?: number,
): { text: string; goesOn: boolean } => {
  const line = buffer.getLine(row)
  const next = buffer.getLine(row + 1)
  const goesOn = next?.isWrapped === true
  const text = line?.translateToString(!goesOn, from, to) ?? ''
  const isShort = to === undefined && line && goesOn && leavesLastCell(line, next)
  return { text: isShort ? text.slice(0, -1) : text, goesOn }
}

/** The line that a row is part of, as far as `maxRows` above and below it. */
export const lineAround = (buffer: IBuffer, row: number, maxRows: number): JoinedLine => {
  let first = row
  while (row - first < maxRows && buffer.getLine(first)?.isWrapped && first > 0) first -= 1
  return joinedLine(buffer, first, row - first + 1 + maxRows)
}

/** A character of two cells that found only one left at the end of a row stands in the next, and leaves the cell empty. */
const leavesLastCell = (line: IBufferLine, next: IBufferLine) => {
  const last = line.getCell(line.length - 1)
  return last?.getChars() === '' && last.getWidth() === 1 && next.getCell(0)?.getWidth() === 2
}

/** The cell in which the character at `index` of a line begins. */
export const placeOf = (
  buffer: IBuffer,
  { text, row, starts }: JoinedLine,
  index: number,
): { row: number; column: number } => {
  let below = starts.length - 1
  while (below > 0 && (starts[below] ?? 0) > index) below -= 1
  const before = text.slice(starts[below] ?? 0, index)
  const isPlain = /^[\x20-\u02ff]*$/.test(before)
  return { row: row + below, column: isPlain ? before.length : cellsOf(buffer, row + below, before) }
}

/** How many cells the first characters of a row take: some take two, and some cells hold several characters. */
const cellsOf = (buffer: IBuffer, row: number, before: string): number => {
  const line = buffer.getLine(row)
  let column = 0
  for (let read = 0; line && read < before.length && column < line.length; ) {
    const cell = line.getCell(column)
    read += cell?.getChars().length || 1
    column += Math.max(1, cell?.getWidth() ?? 1)
  }
  return column
}

export interface TerminalText {
  text: string
  lines: number
  /** Counted from 0: the line the cursor is in. */
  cursorLine: number
}

/** All a terminal still holds, scrollback and screen, as plain text: lines that only wrapped are one, ends are bare. */
export const terminalText = (buffer: IBuffer): TerminalText => {
  const lines: string[] = []
  let cursorLine = 0
  for (let row = 0; row < buffer.length; ) {
    const line = joinedLine(buffer, row)
    if (row <= buffer.baseY + buffer.cursorY) cursorLine = lines.length
    lines.push(line.text)
    row += line.starts.length
  }
  while (lines.at(-1)?.trimEnd() === '') lines.pop()
  return {
    text: lines.map((line) => line.trimEnd()).join('\n'),
    lines: lines.length,
    cursorLine: Math.min(cursorLine, Math.max(0, lines.length - 1)),
  }
}
