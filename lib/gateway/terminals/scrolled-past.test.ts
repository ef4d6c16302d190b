import { describe, expect, it } from 'vitest'
import { TerminalMirror, type TerminalSnapshot } from './mirror.ts'
import { bytesScrolledPast, isPlain } from './scrolled-past.ts'
import { PlainTerminal } from './testing-plain-terminal.ts'
import { randomNumbers } from './testing-random-output.ts'

const lines = (count: number, text = 'line') =>
  Buffer.from(Array.from({ length: count }, (_, at) => `${text} ${at}\r\n`).join(''))

describe('what has scrolled past', () => {
  it('is all but so many lines, and the line end before them', () => {
    const printed = lines(1000)
    const skipped = bytesScrolledPast([printed.subarray(0, 2000), printed.subarray(2000)], 100)
    expect(printed.subarray(skipped).toString()).toBe(
      `\r\n${lines(1000).toString().split('\r\n').slice(901).join('\r\n')}`,
    )
  })

  it.each([
    ['too few lines', [lines(50)]],
    ['a sequence among them', [lines(500), Buffer.from('\x1b[31m'), lines(500)].slice(1)],
    ['another set of characters', [Buffer.from('\x0e'), lines(500)]],
    ['a tab stop set by one character', [Buffer.from('\x88'), lines(500)]],
    ['line ends alone', [Buffer.from('line\n'.repeat(500))]],
    ['no line ends', [Buffer.from('x'.repeat(100_000))]],
  ])('is nothing with %s', (_name, pieces) => {
    expect(bytesScrolledPast(pieces, 100)).toBe(0)
  })

  it('may end in sequences, which are kept', () => {
    const printed = Buffer.concat([lines(500), Buffer.from('\x1b[31mred\x1b[m'), lines(200)])
    expect(bytesScrolledPast([printed], 100)).toBe(0)
    const quiet = Buffer.concat([lines(500), lines(200), Buffer.from('\x1b[31mred\x1b[m')])
    const skipped = bytesScrolledPast([quiet], 100)
    expect(skipped).toBeGreaterThan(0)
    expect(quiet.subarray(skipped).toString()).toContain('\x1b[31mred')
  })
})

it('knows plain text', () => {
  expect(isPlain(Buffer.from('text, “words”, 10 °C\t\r\n\b\x07\x7f'))).toBe(true)
  for (const felt of ['\x1b', '\x0e', '\x0f', '\x84', '\x9b']) expect(isPlain(Buffer.from(`°${felt}`))).toBe(false)
})

/** Large ones and small ones between them, as they come. */
const piecesOf = (bytes: Uint8Array): Uint8Array[] => {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += pieces.at(-1)?.length ?? 0)
    pieces.push(bytes.subarray(at, at + (pieces.length % 3 === 1 ? 150 : 30_000)))
  return pieces
}

describe('a mirror that leaves out what has scrolled past', () => {
  const size = { cols: 30, rows: 8 }
  const compare = async (before: string, flood: Uint8Array, after: string) => {
    const mirror = new TerminalMirror({ ...size, scrollback: 50, answer: () => undefined })
    const heard = new PlainTerminal(size.cols, size.rows, 50).feed(before).feed(flood).feed(after)
    let parsed = 0
    mirror.write(Buffer.from(before))
    const pieces = piecesOf(flood)
    for (const piece of pieces) mirror.write(piece, () => parsed++)
    mirror.write(Buffer.from(after))
    const { bytes } = await new Promise<TerminalSnapshot>((done) => mirror.snapshot(50, done))
    expect([mirror.pendingBytes, parsed]).toEqual([0, pieces.length])
    mirror.dispose()
    const shown = new PlainTerminal(size.cols, size.rows, 50).feed(bytes)
    expect(shown.look).toEqual(heard.look)
  }

  it.each([
    ['from the beginning', ''],
    ['from the middle of a line', 'half a line of'],
    ['from the top of a full screen', `${'old text that stays below '.repeat(12)}\x1b[H`],
    ['from behind the last column', 'x'.repeat(30)],
    ['in colour', '\x1b[1;31;44m'],
    ['in insert mode', '\x1b[4h'],
    ['without wrapping', '\x1b[?7l'],
    ['with line drawing', '\x1b(0'],
    ['in a link', '\x1b]8;;http://e.x/\x07'],
    ['with line feeds that begin lines', '\x1b[20h'],
    ['in a region', '\x1b[2;5r\x1b[3;1H'],
    ['on the alternate screen', '\x1b[?1049h'],
    ['in the midst of a sequence', '\x1b_note '],
    ['in the midst of a character', Buffer.from('e“').subarray(0, 2).toString('latin1')],
  ])('shows the same as one that heard it all: %s', async (_name, before) => {
    await compare(before, lines(130_000), '\x07end\x1b[1A\x1b[31m!')
  })

  it('of random text', async () => {
    const random = randomNumbers(7)
    const words = [
      'word ',
      'a',
      '漢字',
      'e\u0301 ',
      '👩‍👩‍👧',
      '\t',
      '\r\n',
      '\r\n',
      '\n',
      '\r',
      '\b',
      '“quoted” ',
      '°',
      'x'.repeat(70),
    ]
    for (let round = 0; round < 10; round++) {
      const text = Array.from({ length: 60_000 }, () => words[Math.floor(random() * words.length)]).join('')
      await compare('', Buffer.from(text), '')
    }
  })

  it('keeps only the marks of what it shows', async () => {
    const mirror = new TerminalMirror({ ...size, scrollback: 50, answer: () => undefined })
    mirror.write(Buffer.from('\x1b]133;A\x07$ before\r\n'))
    mirror.write(lines(20_000))
    mirror.write(Buffer.from('\x1b]133;A\x07$ after\r\n'))
    const { marks } = await new Promise<TerminalSnapshot>((done) => mirror.snapshot(50, done))
    mirror.dispose()
    expect(marks.map(({ line, kind }) => [line, kind])).toEqual([[56, 'prompt']])
  })
})
