import type { Core } from './internals.ts'

/*
 * Cells of each character, as wcwidth of glibc 2.36 counts them. The shell and every program on its screen count with
 * libc: counted in any other way, what a prompt shows is not what it would run. So an emoji of several characters has
 * the cells of each of them, and flags are two letters.
 *
 * The tables are printed by `node scripts/character-widths.ts`: the gap before each range and its length, in base 36.
 */
const zero =
  'lc 34 7n 7 7b 19 1 1 1 2 1 2 1 1 20 b 1 1 1a l g 1 2t 7 2 6 2 2 1 4 z 1 u r 2j b 1m 9 9 1 o 4 1 9 1 3 1 5 17 3 1n 9 16 o 1 w 1j 1 1 1 4 8 4 1 3 7 a 2 t 1 1m 1 4 4 8 1 k 2 q 5 1l 1 4 h u 2 3 1 b 2 1l 1 4 8 4 1 k 2 m 8 1m 1 2 1 1 4 8 a b 2 u 1 1p 1 c 1 1e 1 3 1 1j 1 1 3 5 h b 2 t 1 1m 1 2 1 6 1 5 2 k 2 s 2 1l 2 4 4 8 1 k 2 t 1 20 1 7 5 2i 1 2 7 c 8 2q 1 2 9 b 7 21 2 r 1 1 1 1 1 1j e 1 5 1 2 5 1c 9 1 2u 4 1 6 1 2 2 2 p 2 4 3 g 4 d 1 2 2 6 1 f 1 5e 4g 9p 3 qa 3 t 2 u 2 u 2 1s 2 1 7 8 1 2 b 9 1 19 5 39 2 y 1 3a 3 4 2 9 1 6 3 63 2 2 1 1m 1 1 9 1 1 2 8 6 d 1c 2c 1c 1 1 5 1 1 5 1 14 9 c 2 w 4 2 2 1 3 1k 1 1 2 3 1 1 3 1m 8 2 2 48 3 1 d 1 7 4 1 6 1 3 2 5i 1s ej 5 q 5 1d g 2o x 2da 3 3x 1 2o w fe 4 2z 2 n9w 4 1 a w 2 28 2 7k 1 3 1 4 1 p 2 5 1 47 2 q i d 1 12 8 p b 1a 3 1c 1 2 4 2 2 13 1 1v 6 2 2 2 2 c 1 8 1 1b 1 1f 1 1 3 2 2 5 2 1 1 16 2 8 1 6m 1 2 1 4 1 8n6 24 6xu 1 kh g g g 5r 1 6x 3 e9 1 6a 1 45 5 1ae f 14 8 4l 2 fx 4 1t 5 8t 2 25 6 1y b 1d 4 3f 1 1i f 15 1 2 2 a 3 1d 4 2 2 7 1 1p 3 10 5 1 8 1q 1 c 2 1g 9 a 4 2 1 2n 3 2 1 1 2 6 4 4d 1 3 8 l 2 1l 2 3 1 11 3h 2d 8 2 3 1 1 n 1 2c 6 1 1 4 2 1 2 6m 4 6 2 1 2 r 2 2d 8 2 1 1 2 2y 1 1 1 2 6 1 1 2t 3 2 4 1 5 77 9 1 2 74 2 1 1 4 1 40 8 4 1 w a 14 6 2 4 8 1 9 6 2 3 1a d 1 2 5i 7 5l e 1 1 2a m 2 7 1 2 1 2 3e l 1 1 20 2 3 1 1 1 9n 2 b 2j 445 12 8ug i 1xc 5 1n 7 t4 1 1r 4 29 1 f5k 2 1 3on f4 3 9 g 2 7 u 4 44 3 1iz 1j 4 1e 8 1 e 1 m l 11s 40 4g 7 af 1 1p 4 e4 ei d6 7 31 7 gzau dr'
const wide =
  '3cw 2o 3i2 2 d 2 5a 4 3 1 2 1 eh 2 l 2 1e c 17 1 j 1 d 1 8 2 h 2 5 2 8 1 5 1 l 1 7 2 1 1 4 1 2 1 7 1 4 2 s 1 z 1 1 1 4 3 1 1 1p 3 o 1 e 1 nv 2 1f 1 4 1 mi bu 4 h 2 2e 4 my4 wp t hv 8mc 6l8 d6 mu a m 1o 45 2o 3j 7 m49 4 c d8s c20 1 5m 1 5a 1 2 a 2t 81 c 9 1 1y 1 m c 17 4 5 c h 3 1 3 1z 1 1 1 57 2 1r d 4 1 o i 1 q 2 d 1 2e 2d 1c 1y 6 1 3 3 2 b b 2 7 9 6b h 7v 1b 1 a 1 55 34 3t zr 1idn'

const rangesOf = (table: string): Uint32Array => {
  let at = 0
  return Uint32Array.from(table.split(' '), (step) => {
    at += Number.parseInt(step, 36)
    return at
  })
}

const zeroRanges = rangesOf(zero)
const wideRanges = rangesOf(wide)

/** Whether `code` is in one of the ranges, each of which ends before its second number. */
const isIn = (ranges: Uint32Array, code: number): boolean => {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (code < (ranges[middle] ?? 0)) high = middle
    else low = middle + 1
  }
  return low % 2 === 1
}

/** The first character that is not one cell wide. */
const firstOther = zeroRanges[0] ?? 0

/** Cells of a character that is no control. One that libc does not know has one cell, as in readline. */
export const characterWidth = (code: number): 0 | 1 | 2 => {
  if (code < firstOther) return 1
  if (isIn(zeroRanges, code)) return 0
  return isIn(wideRanges, code) ? 2 : 1
}

interface Terminal {
  readonly unicode: { register(provider: Core['unicodeService']['_activeProvider']): void; activeVersion: string }
}

const widthOf = (properties: number): number => (properties >> 1) & 3
const propertiesOf = (width: number, joins: boolean): number => (width << 1) | (joins ? 1 : 0)

/** Has xterm count the cells of characters as libc does. */
export const countAsLibc = (terminal: Terminal, core: Core): void => {
  const version = 'libc'
  terminal.unicode.register({
    version,
    wcwidth: characterWidth,
    charProperties(code, preceding) {
      const width = characterWidth(code)
      if (width > 0) return propertiesOf(width, false)
      const before = widthOf(preceding)
      return before > 0 ? propertiesOf(before, true) : propertiesOf(1, false)
    },
  })
  terminal.unicode.activeVersion = version
  attachLeading(core)
}

/**
 * xterm gives a cell to a character without width that comes first after a sequence. It belongs to the character before
 * the cursor; without one, there is nothing to see of it.
 */
const attachLeading = (core: Core): void => {
  const { _inputHandler: handler } = core
  const print = handler.print.bind(handler)
  handler.print = (data, start, end) => {
    const parser = handler._parser
    if (parser.precedingJoinState !== 0 || characterWidth(data[start] ?? 0) > 0) return print(data, start, end)
    const before = widthBeforeCursor(core)
    if (before > 0) {
      parser.precedingJoinState = propertiesOf(before, false)
      return print(data, start, end)
    }
    let first = start
    while (first < end && characterWidth(data[first] ?? 0) === 0) first++
    if (first < end) print(data, first, end)
  }
}

/** Cells of the character before the cursor; 0 where there is none. */
const widthBeforeCursor = ({ buffers: { active } }: Core): number => {
  const line = active.lines.get(active.ybase + active.y)
  const width = active.x > 0 && line?.getWidth(active.x - 1) === 0 ? 2 : 1
  const at = active.x - width
  return line && at >= 0 && line.hasContent(at) ? line.getWidth(at) : 0
}
