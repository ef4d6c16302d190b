/**
 * Gives a terminal whole characters from bytes that come in pieces. xterm's own decoder garbles some that are cut, “
 * and … among them: of a piece that ends in 0x80 it forgets this byte.
 */
export class WholeCharacters {
  /** The beginning of a character whose end has not come. */
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

/** How many bytes at the end are the beginning of a character. */
export const incompleteTail = (bytes: Uint8Array): number => {
  for (let count = 1; count <= 3 && count <= bytes.length; count++) {
    const byte = bytes[bytes.length - count] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return count < (byte >= 0xf8 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? count : 0
  }
  return 0
}

/** Stands in a dimmed rule over the width of the screen, where the old shell ended. */
const newShellRule = ' new shell '

/**
 * Pushes what is on the screen up into the scrollback and draws a rule below it, leaving a screen as empty and its
 * modes as plain as a full reset would.
 */
export const aboveNewShell = ({ cols, rows }: { cols: number; rows: number }): string => {
  const rule = newShellRule
    .padStart(Math.ceil((cols + newShellRule.length) / 2), '─')
    .padEnd(cols, '─')
    .slice(0, cols)
  return `${resetModes}\r\n\x1b[0m\x1b[J\x1b[2m${rule}\x1b[0m${'\r\n'.repeat(rows)}\x1b[H`
}

/** What a soft reset leaves on: mouse reports, focus reports, bracketed paste, and the palette. */
const plainModes =
  '\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016;2004;2026l\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\'

/**
 * Leaves a terminal with its screen, and with no mode that a program has set. The cursor is saved first, so that leaving
 * the alternate screen moves it only when it was there.
 */
export const resetModes = `\x1b7\x1b[?1049l\x1b[!p${plainModes}`
