import { describe, expect, it } from 'vitest'
import { type ConsoleLine, ConsoleText, lineSpans, plainLine, readLines, storeIn } from './console-text.ts'

const esc = '\x1b'
const plain = (text: string) => readLines(text).lines.map(plainLine)
const styledSpans = (text: string) =>
  readLines(text).lines.flatMap((line) => lineSpans(line).map(({ text, style }) => [text, style]))
const stepwise = (text: string, step: number) => {
  const lines: ConsoleLine[] = []
  const reader = new ConsoleText(storeIn(lines))
  for (let at = 0; at < text.length; at += step) {
    reader.write(text.slice(at, at + step))
    reader.flush()
  }
  return lines
}

describe('line breaks', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['\n\na', ['', '', 'a']],
    ['a\r\nb\r\r\nc\n', ['a', 'b', 'c']],
    ['a\vb\fc\x85d', ['a', 'b', 'c', 'd']],
    [`a${esc}Eb${esc}Dc`, ['a', 'b', 'c']],
  ])('%j', (text, lines) => {
    expect(plain(text)).toEqual(lines)
  })
})

describe('editing within a line', () => {
  it.each([
    ['50%\r100%', '100%'],
    ['100%\r50%', '50%%'],
    ['Fetched 12 of 12\r\x1b[?25h', 'Fetched 12 of 12'],
    ['Ready\r\x1b[0m', 'Ready'],
    ['Ready\r\x1b]0;title\x07\x1b[6n\x1b[>4;1m\r', 'Ready'],
    ['Ready\r\x1b[Kx', 'x'],
    ['abcdef\x1b[3D\x1b[K', 'abc'],
    ['abcdef\x1b[3D\x1b[1K', '    ef'],
    ['abcdef\x1b[3D\x1b[2KX', '   X'],
    ['abcdef\x1b[2K\rX', 'X'],
    ['abc\x1b[2K', ''],
    ['abcdef\x1b[3G\x1b[J', 'ab'],
    ['abcdef\x1b[3G\x1b[1J', '   def'],
    ['abcdef\x1b[2G\x1b[2X', 'a  def'],
    ['ab\b\bX', 'Xb'],
    ['|\b/\b-\b\\', '\\'],
    ['a\x1b[5Cb', 'a     b'],
    ['ab\x1b7cd\x1b8X', 'abXd'],
  ])('%j shows %j', (text, line) => {
    expect(plain(text)).toEqual([line])
  })

  it('erases both halves of a wide character and keeps accents with their letter', () => {
    expect(plain('漢字\rA')).toEqual(['A 字'])
    expect(plain('漢字\x1b[2GA')).toEqual([' A字'])
    expect(plain('🎉🎉x\x1b[3G漢')).toEqual(['🎉漢x'])
    expect(plain('e\u0301x\x1b[2Gy')).toEqual(['e\u0301y'])
    expect(plain('xx\re\u0301')).toEqual(['e\u0301x'])
  })

  it('never changes another line', () => {
    expect(plain(`one\ntwo${esc}[A${esc}[2Kthree\rfour`)).toEqual(['one', 'two', 'fourhree'])
    expect(plain(`outer 1\ninner 1${esc}[A\router 2\ninner 2`)).toEqual(['outer 1', 'inner 1', 'outer 2', 'inner 2'])
    expect(plain(`a${esc}[1;1Hb${esc}[2;3Hc${esc}[Fd`)).toEqual(['a', 'b', '  c', 'd'])
    expect(plain(`a\n${esc}[1A${esc}[Kb`)).toEqual(['a', 'b'])
    expect(plain(`a\n${esc}[H${esc}[2J${esc}[3Jb`)).toEqual(['a', 'b'])
  })
})

describe('hidden sequences', () => {
  it.each([
    ['a hyperlink', `${esc}]8;;https://example.org/x\x07ok link${esc}]8;;\x07`],
    ['a hyperlink terminated by ST', `${esc}]8;id=1;https://example.org/${esc}\\ok link${esc}]8;;${esc}\\`],
    ['a title', `${esc}]0;title\x07ok link`],
    ['private modes', `${esc}[?25l${esc}[?1049h${esc}[?2004hok ${esc}[?25hlink`],
    ['settings with intermediate bytes', `${esc}[4 qok ${esc}[!plink${esc}[>4;1m`],
    ['other strings', `${esc}P1$r0m${esc}\\ok ${esc}_x${esc}\\${esc}^y${esc}\\link`],
    ['character sets', `${esc}(B${esc})0ok \x0elink\x0f`],
    ['C1 controls', `\x9b31mok \x9d0;title\x9clink\x9bm\x9c`],
    ['a bell', '\x07ok link\x07'],
    ['a canceled sequence', `${esc}[31\x18ok ${esc}]0;t\x18link`],
    ['a sequence within another', `${esc}[3${esc}[31mok ${esc}]0;t${esc}[mlink`],
    ['an unfinished escape', `ok link${esc}`],
    ['an unfinished control sequence', `ok link${esc}[31`],
    ['an unterminated string', `ok link${esc}]0;title`],
  ])('%s', (_, text) => {
    expect(plain(text)).toEqual(['ok link'])
  })

  it('end with their line', () => {
    expect(plain(`a${esc}]0;title\nb\x07c`)).toEqual(['a', 'bc'])
    expect(plain(`a${esc}[3\nb`)).toEqual(['a', 'b'])
    expect(plain(`a${esc}\nb`)).toEqual(['a', 'b'])
  })

  it('do not include other control characters, which show as symbols', () => {
    expect(plain('a\0b\x7f\x01')).toEqual(['a␀b␡␁'])
    expect(plain('a\ufffdb\u200e\t c')).toEqual(['a\ufffdb\u200e\t c'])
    expect(plain(`${esc}é${esc}[é`)).toEqual(['éé'])
  })
})

describe('styles', () => {
  it.each([
    ['4:3', { underline: true }],
    ['4:0', {}],
    ['4;58;5;9', { underline: true }],
    ['58:2::240:143:104', {}],
    ['38:2::255:0:0', { color: '255 0 0' }],
    ['38:2:255:0:0', { color: '255 0 0' }],
    ['38:2:1:255:0:0', { color: '255 0 0' }],
    ['38:5:196;48:5:232', { color: '255 0 0', background: '8 8 8' }],
    ['38;5;196;48;2;1;2;255', { color: '255 0 0', background: '1 2 255' }],
    ['30;40', { color: 0, background: 0 }],
    ['97;100', { color: 15, background: 8 }],
    ['1;3;7;9;2', { bold: true, italic: true, inverse: true, strike: true, dim: true }],
    ['31;39', {}],
    ['38;2;999;0;0', {}],
    ['5;38;77', {}],
    ['', {}],
  ])('%s', (parameters, style) => {
    expect(styledSpans(`${esc}[${parameters}mx`)).toEqual([['x', style]])
  })

  it('last until reset, across lines', () => {
    expect(styledSpans(`a${esc}[1;31mb\nc${esc}[0md${esc}[4mx${esc}[4:0my`)).toEqual([
      ['a', {}],
      ['b', { bold: true, color: 1 }],
      ['c', { bold: true, color: 1 }],
      ['d', {}],
      ['x', { underline: true }],
      ['y', {}],
    ])
  })

  it('apply to the overwriting text only', () => {
    expect(styledSpans(`${esc}[31mone\rsecond${esc}[0m`)).toEqual([['second', { color: 1 }]])
    expect(styledSpans(`abcd\r${esc}[32mXY${esc}[0m`)).toEqual([
      ['XY', { color: 2 }],
      ['cd', {}],
    ])
  })
})

describe('chunked text', () => {
  const text =
    `one ${esc}[1;38:2::1:2:3mbold${esc}[0m\r\n漢字\rA🎉\b\bx${esc}]8;;http://x${esc}\\link${esc}]8;;\x07\t` +
    `end${esc}[K\n${esc}[2K10%\r\x9b32m20%${esc}(B\r${esc}[?25h\n50%\r100%\b\b${esc}[K\r\r\nlast`

  it.each([1, 2, 3, 7])('reads the same in chunks of %i characters', (step) => {
    expect(stepwise(text, step)).toEqual(readLines(text).lines)
  })
})

describe('cost', () => {
  // Each would take minutes if the cost were superlinear.
  it.each([
    ['a progress bar', Array.from({ length: 100_000 }, (_, i) => `\r${i}/100000 [####      ]`).join(''), 25],
    ['a line of a million characters, overwritten', `${'x'.repeat(1_000_000)}${'\ry'.repeat(500_000)}`, 1_000_000],
    ['unfinished sequences', `x${`${esc}[`.repeat(500_000)}${`${esc}]`.repeat(500_000)}`, 1],
    ['one endless sequence', `x${esc}[${'1;'.repeat(1_000_000)}`, 1],
    ['accents on one letter', `a\rb${'\u0301'.repeat(1_000_000)}`, 1_000_001],
  ])('is linear for %s', (_, text, length) => {
    expect(plain(text).map((line) => line.length)).toEqual([length])
  })

  it('does not depend on the counts in sequences', () => {
    const far = plain(`x${`${esc}[2147483647C`.repeat(10)}y`)[0] ?? ''
    expect([far.length < 1_000, far.endsWith('y')]).toEqual([true, true])
    const wide = plain(`${'x'.repeat(100_000)}${`\r${esc}[50000X${esc}[100G${esc}[1K`.repeat(50_000)}`)
    expect(wide).toHaveLength(1)
    const total = plain(`a${esc}[2147483647Cb\n`.repeat(50_000)).reduce((sum, line) => sum + line.length, 0)
    expect(total).toBeLessThan(5_000_000)
  })
})
