import type { IBuffer, IBufferLine } from '@xterm/xterm'

/** A line of output joined from its wrapped rows. */
export interface JoinedLine {
  text: string
  row: number
  /** Index in the text where each row starts. */
  starts: readonly number[]
}

export const joinedLine = (buffer: IBuffer, row: number, maxRows = Number.POSITIVE_INFINITY): JoinedLine => {
  const starts: number[] = []
  let text = ''
  for (let at = row; ; at++) {
    const piece = rowPiece(buffer, at)
    starts.push(text.length)
    text += piece.text
    if (!piece.isContinued || starts.length >= maxRows) return { text, row, starts }
  }
}

/** Part of a row between two columns, without trailing blanks at the end of a line. */
export const rowPiece = (
  buffer: IBuffer,
  row: number,
  from?: number,
  to?: number,
): { text: string; isContinued: boolean } => {
  const line = buffer.getLine(row)
  const next = buffer.getLine(row + 1)
  const isContinued = next?.isWrapped === true
  const text = line?.translateToString(!isContinued, from, to) ?? ''
  const isShort = to === undefined && line && isContinued && leavesLastCell(line, next)
  return { text: isShort ? text.slice(0, -1) : text, isContinued }
}

/** The line that contains a row, limited to `maxRows` in both directions. */
export const lineAround = (buffer: IBuffer, row: number, maxRows: number): JoinedLine => {
  let first = row
  while (row - first < maxRows && buffer.getLine(first)?.isWrapped && first > 0) first -= 1
  return joinedLine(buffer, first, row - first + 1 + maxRows)
}

/** A wide character that doesn't fit leaves the last cell empty and moves to the next row. */
const leavesLastCell = (line: IBufferLine, next: IBufferLine) => {
  const last = line.getCell(line.length - 1)
  return last?.getChars() === '' && last.getWidth() === 1 && next.getCell(0)?.getWidth() === 2
}

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

export const linesOf = (buffer: IBuffer): string[] => {
  const lines: string[] = []
  for (let row = 0; row < buffer.length; ) {
    const { text, starts } = joinedLine(buffer, row)
    lines.push(text)
    row += starts.length
  }
  return lines
}

/** Scrollback and screen as plain text, with wrapped lines joined and trailing blanks removed. */
export const terminalText = (buffer: IBuffer): string =>
  linesOf(buffer)
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd()
