import { describe, expect, it } from 'vitest'
import { keepInput, noUnsentInput, typedSigns } from './unsent-input.ts'

describe('unsent input', () => {
  it('keeps a piece completely or not at all, and nothing after a dropped one', () => {
    const almost = keepInput(noUnsentInput, 'é'.repeat(511))
    expect(almost).toMatchObject({ isFull: false })
    const full = keepInput(almost, 'abc')
    expect(full).toEqual({ ...almost, isFull: true })
    expect(keepInput(full, 'x').text).toBe(almost.text)
  })

  it('has one symbol per key', () => {
    const shown = (text: string) => typedSigns(text).map(({ sign, isControl }) => (isControl ? `[${sign}]` : sign))
    expect(shown('ls\t-é\r')).toEqual(['l', 's', '[⇥]', '-', 'é', '[⏎]'])
    expect(shown('\x03\x1b[A\x1bOB\x1b[3~\x7f')).toEqual(['[^C]', '[↑]', '[↓]', '[Del]', '[⌫]'])
    expect(shown('\x1b[1;5C\x1bb\x9b')).toEqual(['[Esc[1;5C]', '[Esc]', 'b', '[�]'])
    expect(shown('👩‍🔬e\u0301')).toEqual(['👩‍🔬', 'e\u0301'])
    expect(shown('')).toEqual([])
  })
})
