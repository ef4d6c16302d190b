/** Reassembles split UTF-8 characters. xterm's decoder drops a trailing 0x80, as in “ and …. */
export class WholeCharacters {
  rest: Uint8Array = new Uint8Array()

  take(bytes: Uint8Array): Uint8Array {
    let all = bytes
    if (this.rest.length > 0) {
      all = new Uint8Array(this.rest.length + bytes.length)
      all.set(this.rest)
      all.set(bytes, this.rest.length)
    }
    const whole = all.length - incompleteTail(all)
    this.rest = all.slice(whole)
    return all.subarray(0, whole)
  }
}

/** Number of trailing bytes that start an incomplete character. */
export const incompleteTail = (bytes: Uint8Array): number => {
  for (let count = 1; count <= 3 && count <= bytes.length; count++) {
    const byte = bytes[bytes.length - count] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return count < (byte >= 0xf8 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? count : 0
  }
  return 0
}

const newShellRule = ' new shell '

/** Like a full reset that keeps the text in the scrollback, above a rule. */
export const moveAboveNewShell = ({ cols, rows }: { cols: number; rows: number }): string => {
  const rule = newShellRule
    .padStart(Math.ceil((cols + newShellRule.length) / 2), '─')
    .padEnd(cols, '─')
    .slice(0, cols)
  return `${resetModes}\r\n\x1b[0m\x1b[J\x1b[2m${rule}\x1b[0m${'\r\n'.repeat(rows)}\x1b[H`
}

/** Modes that a soft reset leaves on: mouse and focus reports, bracketed paste, and the palette. */
const plainModes =
  '\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016;2004;2026l\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\'

/** Like a full reset that moves the screen's text into the scrollback. */
export const resetScreen = ({ rows }: { rows: number }): string =>
  `${resetModes}\x1b[0m\x1b[J${'\r\n'.repeat(rows)}\x1b[H`

/** Keeps the screen. The cursor is saved first, so leaving the alternate screen only moves it if it was active. */
const resetModes = `\x1b7\x1b[?1049l\x1b[!p${plainModes}`
