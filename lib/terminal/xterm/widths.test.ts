import { describe, expect, it } from 'vitest'
import { openXterm } from './headless.ts'
import { characterWidth } from './widths.ts'

const write = (text: string, cols = 20) => {
  const core = openXterm({ cols, rows: 3, scrollback: 0 })
  core._inputHandler.parse(Buffer.from(text))
  const { x, lines } = core.buffers.active
  const line = lines.get(0)
  const first = { width: line?.getWidth(0), text: line?._combined[0] ?? '' }
  core.dispose()
  return { x, first }
}

describe('character widths', () => {
  it.each([
    [2, '🎉 🫠 🥹 🫡 🫶 🛝 漢 가', 'emoji up to Unicode 14 and ideographs'],
    [2, '🫨 🩷 🪿', 'emoji newer than the libc of the table'],
    [2, '🏽 ䷀ Ａ', 'skin tones, hexagrams, full-width letters'],
    [0, '\u200b \u200e \u200f \u202a \u2060 \u2066 \ufeff \u200d \ufe0f', 'marks that show nothing'],
    [0, '\u0301 \u20e3 \u0335 \u1160 \u3099', 'accents and middle letters of Hangul'],
    [1, 'a é ﾞ ﾟ ｶ \u00ad ❤ 🇩', 'the rest, half-width voiced marks among them'],
  ])('is %i for %s: %s', (width, characters) => {
    for (const character of characters.split(' '))
      expect([character, characterWidth(character.codePointAt(0) ?? 0)]).toEqual([character, width])
  })

  it("match the terminal's, alone or after another character", () => {
    for (const [text, x] of [
      ['x🫠', 3],
      ['x\u200b\u200b', 1],
      ['xｶﾞ', 3],
      ['👩\u200d👩\u200d👧', 6],
      ['👍🏽', 4],
      ['❤\ufe0f', 1],
      ['🇩🇪', 2],
      ['각', 2],
    ] as const)
      expect([text, write(text).x]).toEqual([text, x])
  })
})

describe('a zero-width character', () => {
  it('joins the character before the cursor when first after a sequence', () => {
    expect(write('a\x1b[0m\u0301b')).toMatchObject({ x: 2, first: { text: 'a\u0301', width: 1 } })
    expect(write('漢\x1b[0m\u3099b')).toMatchObject({ x: 3, first: { text: '漢\u3099', width: 2 } })
    expect(write('ab\r\x1b[2C\u200e\u200ec').x).toBe(3)
  })

  it('takes no cell if there is no character before the cursor', () => {
    expect(write('\ufeffab').x).toBe(2)
    expect(write('\x1b[5C\u0301b').x).toBe(6)
    expect(write('a\r\u200bb').x).toBe(1)
  })

  it('stays with the last character of a full line', () => {
    expect(write('漢\x1b[0m\u0301', 2)).toMatchObject({ x: 2, first: { text: '漢\u0301', width: 2 } })
  })
})
