import type { IBuffer } from '@xterm/xterm'
import { joinedLine } from './joined-lines.ts'

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
