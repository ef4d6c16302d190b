import type { Terminal } from '@xterm/xterm'

type Reader = Pick<Terminal, 'buffer' | 'scrollToLine' | 'rows'>

/**
 * Where somebody who has scrolled up is reading, to be found again once the screen was replaced. Undefined for who is
 * at the end, and stays there.
 */
export const readingPlace = ({ buffer: { normal }, rows }: Reader): ((screen: Reader) => void) | undefined => {
  const fromBottom = normal.baseY - normal.viewportY
  if (fromBottom <= 0) return undefined
  const lines = linesOf(normal, normal.viewportY, rows)
  return (screen) => {
    const now = screen.buffer.normal
    const expected = Math.max(0, now.baseY - fromBottom)
    screen.scrollToLine(placeOf(lines, now, expected) ?? expected)
  }
}

type Buffer = Terminal['buffer']['normal']

const linesOf = (buffer: Buffer, from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => buffer.getLine(from + index)?.translateToString(true) ?? '')

/**
 * The same lines, nearest above where they would be had nothing been printed since. Lines of another width were
 * wrapped anew and are not found; then the distance to the end has to do.
 */
const placeOf = (lines: readonly string[], buffer: Buffer, expected: number): number | undefined => {
  for (let line = expected; line >= 0; line--) {
    if (lines.every((text, index) => buffer.getLine(line + index)?.translateToString(true) === text)) return line
  }
  return undefined
}
