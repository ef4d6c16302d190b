import { execFileSync } from 'node:child_process'

// Prints the two tables of lib/terminal/xterm/widths.ts, from the libc of this machine. Requires python3.

const widthsOfLibc = `
import ctypes, locale
locale.setlocale(locale.LC_ALL, "C.UTF-8")
libc = ctypes.CDLL("libc.so.6")
print("".join("012"[w] if w >= 0 else "-" for w in map(libc.wcwidth, range(0x110000))))`

/** Characters newer than this libc get the width that newer versions assign. */
const widthOf = (code: number, known: string): string => {
  if (known !== '-') return known
  const character = String.fromCodePoint(code)
  if (/^\p{Emoji_Presentation}$/u.test(character)) return '2'
  return /^[\p{Mn}\p{Me}\p{Cf}]$/u.test(character) ? '0' : '-'
}

const known = execFileSync('python3', ['-c', widthsOfLibc], { encoding: 'latin1', maxBuffer: 2 ** 24 })
const widths = Array.from({ length: 0x110000 }, (_, code) => widthOf(code, known[code] ?? '-'))

/** The gap before each range and the length of the range, in base 36. */
const tableOf = (width: string): string => {
  const steps: number[] = []
  let end = 0
  for (let code = 0xa0; code < widths.length; code++) {
    if (widths[code] !== width) continue
    const start = code
    let last = code
    for (; code < widths.length && (widths[code] === width || widths[code] === '-'); code++)
      if (widths[code] === width) last = code
    steps.push(start - end, last - start + 1)
    end = last + 1
    code = last
  }
  return steps.map((step) => step.toString(36)).join(' ')
}

for (const [name, width] of [
  ['zero', '0'],
  ['wide', '2'],
] as const)
  console.log(`const ${name} =\n  '${tableOf(width)}'`)
