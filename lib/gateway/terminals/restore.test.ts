import { describe, expect, it } from 'vitest'
import { TerminalMirror, type TerminalSnapshot } from './mirror.ts'
import { PlainTerminal } from './testing-plain-terminal.ts'

const snapshotOf = (mirror: TerminalMirror, lines = 1000) =>
  new Promise<TerminalSnapshot>((done) => mirror.snapshot(lines, done))

const size = { cols: 30, rows: 8 }

/** One terminal that received everything, and one restored from a snapshot after `printed`. */
const both = async (printed: string | Uint8Array, rest: string | Uint8Array = '', { cols, rows } = size) => {
  const mirror = new TerminalMirror({ cols, rows, scrollback: 100, answer: () => undefined })
  mirror.write(Buffer.from(printed))
  const { bytes } = await snapshotOf(mirror)
  mirror.dispose()
  const heard = new PlainTerminal(cols, rows, 100).feed(printed).feed(rest)
  // A used terminal: earlier content must disappear.
  const shown = new PlainTerminal(cols, rows, 100)
    .feed(
      'before\x1b[31m\x1b[?1049h\x1b[2;3r\x1b(0\x1b[?7l\x1b[?1003h\x1b[?1006h\x1b[?25l\x1b[20h\x1b]4;1;#123456\x07\x1b]2;cut',
    )
    .feed(bytes)
    .feed(rest)
  return { heard, shown }
}

/** Observable state: each queried mode, and what the mouse sends. */
const asked = [1, 6, 7, 9, 25, 45, 47, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 1047, 1049, 2004]
const felt = (terminal: PlainTerminal) => [
  ...asked.map((mode) => terminal.answerTo(`\x1b[?${mode}$p`)),
  ...[4, 20].map((mode) => terminal.answerTo(`\x1b[${mode}$p`)),
  terminal.answerTo('\x1b[6n'),
  terminal.answerToMouse(),
]

const modes: Record<string, string[]> = {
  'bracketed paste': ['\x1b[?2004h', '\x1b[?2004h\x1b[?2004l'],
  'application cursor keys': ['\x1b[?1h', '\x1b[?1h\x1b[?1l'],
  'mouse tracking': ['\x1b[?9h', '\x1b[?1000h', '\x1b[?1002h', '\x1b[?1003h', '\x1b[?1000;1002h\x1b[?1002l'],
  'mouse encoding': ['\x1b[?1000;1006h', '\x1b[?1002h\x1b[?1016h', '\x1b[?1003;1005h', '\x1b[?1003;1015h'],
  'focus reports': ['\x1b[?1004h'],
  'alternate screen': [
    'normal\x1b[?1049halt\x1b[5;5Hx',
    'normal\x1b[?47halt',
    'normal\x1b[?1047h\x1b[2;3Halt',
    '\x1b[3;3Ha\x1b7\x1b[?1049h\x1b[2;2H\x1b7\x1b[8;8H',
  ],
  'hidden cursor': ['\x1b[?25l'],
  'cursor style': ['\x1b[1 q', '\x1b[2 q', '\x1b[3 q', '\x1b[4 q', '\x1b[5 q', '\x1b[6 q', '\x1b[6 q\x1b[0 q'],
  'scroll region': ['a\r\nb\r\nc\x1b[2;5r', '\x1b[2;5r\x1b[4;4H', '\x1b[2;5r\x1b[?1049h\x1b[3;4r'],
  'saved cursor': ['\x1b[3;4H\x1b[1;31m\x1b(0\x1b7\x1b[m\x1b(B\x1b[H', '\x1b[2;2H\x1b[s\x1b[6;6H'],
  title: ['\x1b]0;both\x07', '\x1b]2;window\x1b\\', '\x1b]1;icon\x07', '\x1b]2;a\x07\x1b[22;2t\x1b]2;b\x07'],
  'OSC 8 target': [
    '\x1b]8;;http://e.x/a;b?c=ä\x07link\x1b]8;;\x07 text',
    '\x1b]8;id=1;http://e.x/\x07a\x1b]8;;\x07 \x1b]8;id=1;http://e.x/\x07b',
    'x\x1b]8;;http://e.x/\x1b\\open',
  ],
  palette: [
    '\x1b]4;1;rgb:12/34/56;200;#abc\x07',
    '\x1b]10;#111111;#222222;#333333\x07',
    '\x1b]11;rgb:1/2/3\x07\x1b]12;#123\x07\x1b]111\x07',
    '\x1b]4;1;#111;2;#222;3;#333\x07\x1b]104;2\x07',
    '\x1b]4;1;#111\x07\x1b]104\x07',
  ],
  'kinds of underline': [
    '\x1b[4:2ma\x1b[4:3mb\x1b[4:4mc\x1b[4:5md\x1b[21me\x1b[4mf\x1b[24mg',
    '\x1b[4:3;58;2;1;2;3ma\x1b[58:5:9mb\x1b[59mc',
    '\x1b[58;5;9m',
  ],
  'line-drawing characters': [
    '\x1b(0lqk',
    '\x1b)0\x0elqk\x0fa',
    '\x1b*0\x1bnlqk',
    '\x1b+0\x1bolqk',
    '\x1b(0\x1b7\x1b(B\x1b8',
  ],
  'tab stops': ['\x1b[3g', '\x1b[3g\x1b[1;5H\x1bH\x1b[1;11H\x1bH\r', '\x1b[1;9H\x1b[g\r', '\x1b[?1049h\x1b[3g'],
  insert: ['text\x1b[4h\r', 'some text\x1b[4h\x1b[1;5H'],
  origin: ['\x1b[2;6r\x1b[?6h', '\x1b[2;6r\x1b[?6h\x1b[3;3Hx'],
  'no wrap': ['\x1b[?7l', `\x1b[?7l${'x'.repeat(40)}`],
  'application keypad': ['\x1b=', '\x1b[?66h', '\x1b=\x1b>'],
  'current folder': ['\x1b]7;file://host/tmp/a%20b\x07'],
}

describe('each mode of a terminal', () => {
  const probes = [
    '',
    'x',
    `\r\n${'probe '.repeat(7)}\r\n`,
    '\tA\tB\tC',
    '\x1b8y',
    '\x1b[?1049lback',
    '\n\n\n\n\n\n\n\nlqk\x1b[23;2t',
  ]
  for (const [name, variants] of Object.entries(modes))
    it(`is restored: ${name}`, async () => {
      for (const variant of variants)
        for (const probe of probes) {
          const { heard, shown } = await both(variant, probe)
          const what = JSON.stringify(variant + probe)
          expect([what, ...shown.look]).toEqual([what, ...heard.look])
          expect([what, ...felt(shown)]).toEqual([what, ...felt(heard)])
        }
    })
})

describe('state that is not a mode', () => {
  it.each([
    ['the character set a cursor brought back', '\x1b(0\x1b7\x1b(B\x1b)0\x1b8', 'lqk'],
    ['a cursor that waits behind the last column', 'x'.repeat(30), 'y'],
    ['a wide character in the last columns', `${'x'.repeat(28)}漢`, '漢'],
    ['a wide character that found no room', `${'x'.repeat(29)}漢`, 'y'],
    ['a letter whose accent is still to come', 'cafe', '\u0301!'],
    ['a letter whose accent is still to come, in insert mode', 'ab\x1b[4h\x1b[1;1He', '\u0301!'],
    ['a character to be repeated', '\x1b[31mab', '\x1b[5b'],
    ['the colors of the pen', '\x1b[1;3;7;9;53;38;2;1;2;3;48;5;99m', 'text'],
    ['spaces with a background at the end', '\x1b[44mblue    \x1b[m\r\n\x1b[41m\x1b[K\x1b[m\r\n', 'x'],
    ['the background of lines that scrolled in', '\x1b[45m\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n', 'x'],
    [
      'a colored line that wraps at the end, its rest erased',
      `${'\n'.repeat(9)}\x1b[41m${'x'.repeat(35)}\x1b[m\x1b[K`,
      'x',
    ],
    ['protected cells', '\x1b[1"qkept\x1b[0"qgone', '\x1b[?2J'],
    ['reverse wraparound', `\x1b[?45h${'x'.repeat(31)}`, '\b\b\b\b'],
    ['LF as new line', 'a\x1b[20h', '\nb'],
  ])('restores %s', async (_name, printed, rest) => {
    const before = await both(printed)
    expect(before.shown.look).toEqual(before.heard.look)
    const after = await both(printed, rest)
    expect(after.shown.look).toEqual(after.heard.look)
  })

  it('does not restore a frame in progress, whose end may never come', async () => {
    const { shown } = await both('\x1b[?2026hhalf')
    expect(shown.answerTo('\x1b[?2026$p')).toBe('\x1b[?2026;2$y')
  })

  it.each([
    [
      'by text',
      'a long line of words that goes on and on until it needs three rows of the screen, or four\r\nshort\r\n',
    ],
    ['and erased in part', `${'x'.repeat(45)}\x1b[1;20H\x1b[K\x1b[8;1H`],
    ['and emptied', `${'x'.repeat(45)}\x1b[1;1H\x1b[K\x1b[2;1H\x1b[K\x1b[8;1H`],
    ['with its second row begun anew', `${'x'.repeat(45)}\x1b[2;1H\x1b[44m\x1b[10X\x1b[m\x1b[8;1H`],
  ])('has lines that were wrapped %s flow together when the terminal grows and shrinks', async (_name, printed) => {
    const { heard, shown } = await both(printed)
    for (const [cols, rows] of [
      [70, 8],
      [17, 8],
      [30, 12],
      [100, 5],
    ] as const) {
      heard.resize(cols, rows)
      shown.resize(cols, rows)
      expect(shown.look).toEqual(heard.look)
    }
  })

  it('holds the requested number of scrollback lines', async () => {
    const mirror = new TerminalMirror({ cols: 20, rows: 4, scrollback: 100, answer: () => undefined })
    mirror.write(Buffer.from(Array.from({ length: 50 }, (_, line) => `line ${line}`).join('\r\n')))
    const { bytes } = await snapshotOf(mirror, 10)
    const text = Buffer.from(bytes).toString()
    expect(text).toContain('line 36')
    expect(text).not.toContain('line 35')
    mirror.dispose()
  })
})

describe('a snapshot between two bytes', () => {
  it.each([
    ['a character', 'a“b”… 漢字 👩‍👩‍👧 é'],
    ['colors', 'a\x1b[1;38;2;10;20;30mb\x1b[0mc'],
    ['a sequence with control characters in it', 'a\x1b[1\r\n;3\x1b[32mb\x1b[5\tCc'],
    ['a link', 'x\x1b]8;id=a;http://e.x/ä\x1b\\y\x1b]8;;\x1b\\z'],
    ['a device control string', 'a\x1bP1$qm\x1b\\b\x1bP0;1|17/17\x1b\\c'],
    ['an application string', 'a\x1b_Gf=100;AAAA\x1b\\b\x1b^note\x1b\\c'],
    ['one of the C1 characters', 'a\x9b31mb\x9d2;t\x9cc\x90x\x9cd\x84e'],
    ['a sequence that is canceled', 'a\x1b[12\x18b\x1b]2;no\x1ac\x1b[1\x1b[32md'],
    [
      'bytes that are no text',
      Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xe2, 0x80, 0x62, 0xf0, 0x9f, 0x1b, 0x5b, 0x33, 0x31, 0x6d, 0xc2]),
    ],
  ])('of %s loses none', async (_name, printed) => {
    const all = Buffer.from(printed)
    for (let cut = 0; cut <= all.length; cut++) {
      const { heard, shown } = await both(all.subarray(0, cut), all.subarray(cut))
      expect([cut, ...shown.look]).toEqual([cut, ...heard.look])
    }
  })

  it('drops an overlong string and parses what follows', async () => {
    for (const begin of ['\x1b]2;', '\x1bP1|', '\x1b_', '\x1b[1;'])
      for (const { bytes } of [await afterEndless(begin)]) {
        expect(bytes.length).toBeLessThan(70_000)
        const shown = new PlainTerminal(30, 8, 100).feed(bytes).feed('111\x1b\\\x1b[2;2Hshown')
        expect(shown.look.join('\n')).toContain('shown')
        expect(shown.look.join('\n')).not.toContain('111')
      }
  })
})

const afterEndless = async (begin: string) => {
  const mirror = new TerminalMirror({ cols: 30, rows: 8, scrollback: 100, answer: () => undefined })
  mirror.write(Buffer.from(begin))
  for (let part = 0; part < 20; part++) mirror.write(Buffer.alloc(10_000, '1'))
  const snapshot = await snapshotOf(mirror)
  mirror.dispose()
  return snapshot
}
