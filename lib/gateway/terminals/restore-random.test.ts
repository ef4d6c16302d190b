import { expect, it } from 'vitest'
import { TerminalMirror, type TerminalSnapshot } from './mirror.ts'
import { PlainTerminal } from './testing-plain-terminal.ts'

/** Deterministic random numbers. */
const randomNumbers = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const split = (text: string) => text.split(' ')
const escaped = (text: string) => split(text).map((each) => `\x1b${each}`)
const texts = split('a abc The\xa0“brown”\xa0fox… lqqk 漢字 👩‍👩‍👧‍👦 e\u0301 \u0301 🇩🇪🇫🇷 ﷺ 각 ก็ ❤\ufe0f')
const controls = ['\r\n', '\r\n', '\n', '\r', '\t', '\b', '\x0e', '\x0f', '\x84', '\x1bM', '\x1bD', '\x1bE']
const renditions = split(
  '0 1 3 4 4:3 5 7 9 21 24 31 44 49 53 55 97 105 38;5;99 48;2;9;8;7 58;5;3 38:2::4:5:6 0;4;58;5;9',
)
const modes = split('1 6 7 9 12 25 45 47 66 1000 1002 1003 1004 1006 1016 1049 2004 2026')
const strings = escaped(
  ']0;both\x07 ]1;icon\x1b\\ [22;0t [23;1t ]8;;http://e.x/;ä\x1b\\ ]8;id=a;http://e.x/a\x07 ]8;;\x07 ]7;file://h/a%20b\x07 ]4;7;rgb:12/aa/bb\x07 ]11;#a1b2c3\x07 ]104\x07 P1;2|one\x1b\\ _three\x1b\\ [12\x18z ]2;cut\x18',
)
const others = escaped('7 8 (0 (B )0 *A n o H [g [3g = > #8 [!p [r [4h [4l [20h [20l [1"q [0"q [?1J [Z [2I c')
const noText = [Buffer.from([0xe2, 0x80]), Buffer.from([0xff, 0xc3, 0x28, 0xf0, 0x9f]), Buffer.from([0xc2])]

/** Random output that uses every terminal feature, sometimes incorrectly. */
const randomOutput = (random: () => number, cols: number, rows: number, pieces: number) => {
  const below = (count: number) => Math.floor(random() * count)
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const kinds: (() => string | Buffer)[] = [
    () => one(texts),
    () => one(['x', '漢']).repeat(below(cols + 5)),
    () => one(controls),
    () => `\x1b[${one(renditions)}m`,
    () => `\x1b[${1 + below(rows)};${1 + below(cols)}H`,
    () => `\x1b[${below(9)}${one([...'ABCDGKJX@PLMSTdb'])}`,
    () => `\x1b[${1 + below(rows - 1)};${rows}r`,
    () => `\x1b[?${one(modes)}${one(['h', 'l'])}`,
    () => `\x1b[${below(7)} q`,
    () => one(strings),
    () => one(others),
    () => one(noText),
  ]
  return Buffer.concat(Array.from({ length: pieces }, () => Buffer.from(one(kinds)())))
}

it('restores random output after every byte', async () => {
  for (let seed = 0; seed < 30; seed++) {
    const random = randomNumbers(seed)
    const [cols, rows, scrollback] = [20, 7, 30].map((most) => 2 + Math.floor(random() * most)) as [
      number,
      number,
      number,
    ]
    const printed = randomOutput(random, cols, rows, 8)
    for (let cut = 0; cut <= printed.length; cut++) {
      const heard = new PlainTerminal(cols, rows, scrollback).feed(printed.subarray(0, cut))
      const mirror = new TerminalMirror({ cols, rows, scrollback, answer: () => undefined })
      mirror.write(printed.subarray(0, cut))
      const { bytes } = await new Promise<TerminalSnapshot>((done) => mirror.snapshot(scrollback, done))
      mirror.dispose()
      if (heard.waitsBehindNothing) continue
      const shown = new PlainTerminal(cols, rows, scrollback).feed('before\x1b[?1049h\x1b[41m\x1b]2;cu').feed(bytes)
      const rest = printed.subarray(cut)
      const where = `seed ${seed}, ${cols}x${rows}, cut at ${cut} of ${JSON.stringify(printed.toString())}`
      expect([where, ...shown.feed(rest).look]).toEqual([where, ...heard.feed(rest).look])
    }
  }
})
