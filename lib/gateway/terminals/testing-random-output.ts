/** Deterministic random numbers. */
export const randomNumbers = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const text = [
  'a',
  'abc def',
  'The quick “brown” fox… ',
  'lqqk',
  '漢字',
  '👩‍👩‍👧‍👦',
  'é',
  'e\u0301',
  '\u0301',
  '🇩🇪🇫🇷',
  'ﷺ',
  '각',
  'ก็',
  '❤\ufe0f',
]
const controls = [
  '\r\n',
  '\r\n',
  '\r\n',
  '\n',
  '\r',
  '\t',
  '\b',
  '\x07',
  '\x0b',
  '\0',
  '\x0e',
  '\x0f',
  '\x84',
  '\x1bM',
  '\x1bD',
  '\x1bE',
]
const renditions =
  '0 1 2 3 4 4:2 4:3 4:4 4:5 5 7 8 9 21 22 23 24 27 29 31 39 44 49 53 55 97 105 38;5;99 48;5;17 38;2;1;2;3 48;2;9;8;7 58;5;3 58;2;7;7;7 58:5:1 38:2::4:5:6 0;4;58;5;9 1;31;44'.split(
    ' ',
  )
const modes = '1 6 7 9 12 25 45 66 1000 1002 1003 1004 1006 1016 2004 2026'.split(' ')
const strings = [
  '\x1b]0;both\x07',
  '\x1b]1;icon\x1b\\',
  '\x1b]2;window\x07',
  '\x1b[22;0t',
  '\x1b[22;2t',
  '\x1b[23;0t',
  '\x1b[23;1t',
  '\x1b]8;;http://e.x/;ä\x1b\\',
  '\x1b]8;id=a;http://e.x/a\x07',
  '\x1b]8;;\x07',
  '\x1b]7;file://h/tmp/a%20b\x07',
  '\x1b]4;7;rgb:12/aa/bb\x07',
  '\x1b]11;#a1b2c3\x07',
  '\x1b]104\x07',
  '\x1b]111\x07',
  '\x1bP1;2|one\ntwo\x1b\\',
  '\x1b_three\x07four\x1b\\',
  '\x1b^five\x1b\\',
  '\x9b31m',
  '\x9d2;six\x9c',
  '\x1b[3\n1m',
  '\x1b[1\r;3\x1b[32m',
  '\x1b[12\x18z',
  '\x1b]2;cut\x18',
  '\x1b[?1;2;x',
  '\x1b[1$$p',
]
const others = [
  '\x1b7',
  '\x1b8',
  '\x1b[s',
  '\x1b[u',
  '\x1b[?1048h',
  '\x1b[?1048l',
  '\x1b[?47h',
  '\x1b[?47l',
  '\x1b[?1049h',
  '\x1b[?1049l',
  '\x1b(0',
  '\x1b(B',
  '\x1b)0',
  '\x1b*A',
  '\x1b+0',
  '\x1bn',
  '\x1bo',
  '\x1bH',
  '\x1b[g',
  '\x1b[3g',
  '\x1b=',
  '\x1b>',
  '\x1b#8',
  '\x1b[!p',
  '\x1b[r',
  '\x1b[4h',
  '\x1b[4l',
  '\x1b[20h',
  '\x1b[20l',
  '\x1b[1"q',
  '\x1b[0"q',
  '\x1b[?1J',
  '\x1b[?2K',
  '\x1b[2 @',
  '\x1b[1 A',
  "\x1b[1'}",
  "\x1b[2'~",
  '\x1b[Z',
  '\x1b[2I',
  '\x1bc',
]
const noText = [Buffer.from([0xe2, 0x80]), Buffer.from([0xff, 0xc3, 0x28, 0xf0, 0x9f]), Buffer.from([0xc2])]

/** Random output that uses every terminal feature, sometimes incorrectly. */
export const randomOutput = (
  random: () => number,
  { cols, rows, pieces }: { cols: number; rows: number; pieces: number },
) => {
  const below = (count: number) => Math.floor(random() * count)
  const one = <T>(list: T[]): T => list[below(list.length)] as T
  const kinds: (() => string | Buffer)[] = [
    () => one(text),
    () => one(text),
    () => one(['x', '漢']).repeat(below(cols + 5)),
    () => one(controls),
    () => one(controls),
    () => `\x1b[${one(renditions)}m`,
    () => `\x1b[${one(renditions)}m`,
    () => `\x1b[${1 + below(rows)};${1 + below(cols)}H`,
    () => `\x1b[${below(9)}${one([...'ABCDGKJX@PLMSTd'])}`,
    () => `\x1b[${1 + below(cols * 2)}b`,
    () => `\x1b[${cols}G`,
    () => {
      const top = 1 + below(rows - 1)
      return `\x1b[${top};${top + 1 + below(rows - top)}r`
    },
    () => `\x1b[?${one(modes)}${one(['h', 'l'])}`,
    () => `\x1b[${below(7)} q`,
    () => one(strings),
    () => one(others),
    () => one(noText),
  ]
  return Buffer.concat(Array.from({ length: pieces }, () => Buffer.from(one(kinds)())))
}
