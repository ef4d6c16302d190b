import type { IBuffer } from '@xterm/xterm'

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
  for (let y = 0; y < buffer.length; y++) {
    const line = buffer.getLine(y)
    const continues = buffer.getLine(y + 1)?.isWrapped === true
    // The end of a line that goes on is no end: blanks there are part of the text.
    const part = line?.translateToString(!continues) ?? ''
    if (line?.isWrapped && lines.length > 0) lines[lines.length - 1] += part
    else lines.push(part)
    if (y === buffer.baseY + buffer.cursorY) cursorLine = lines.length - 1
  }
  while (lines.at(-1)?.trimEnd() === '') lines.pop()
  return {
    text: lines.map((line) => line.trimEnd()).join('\n'),
    lines: lines.length,
    cursorLine: Math.min(cursorLine, Math.max(0, lines.length - 1)),
  }
}
