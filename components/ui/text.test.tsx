import type { ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { cutEnd, shortenMiddle, visibleJson, visiblePieces } from './text.ts'
import { VisibleText } from './visible-text.tsx'

const shown = (text: string) =>
  visiblePieces(text)
    .map((piece) => (piece.codePoint ? `[${piece.text}]` : piece.text))
    .join('')

describe('visiblePieces', () => {
  it('names characters that would reverse, hide or break text', () => {
    expect(shown('abc\u202Egnp.exe')).toBe('abc[U+202E]gnp.exe')
    expect(shown('pay\u200Bpal\uFEFF')).toBe('pay[U+200B]pal[U+FEFF]')
    expect(shown('a\uD83Db')).toBe('a[U+D83D]b')
    expect(shown('a\u0000b\u001B[31m\u0085')).toBe('a[␀]b[␛][31m[U+0085]')
    expect(shown('one\ntwo\r\n\u2028')).toBe('one[↵]two[␍][↵][U+2028]')
  })

  it('keeps scripts, emoji and joiners', () => {
    for (const text of ['שלום', 'مرحبا', 'नमस्ते', 'می\u200Cخواهم', '👩‍👩‍👧‍👦 🏳️‍🌈', 'é'])
      expect(visiblePieces(text)).toEqual([{ at: 0, text }])
  })
})

describe('VisibleText', () => {
  it('makes a name of only spaces visible', () => {
    const words = (element: ReactElement) => renderToStaticMarkup(element).replace(/<[^>]*>/g, '')
    expect(words(<VisibleText truncate>{'   '}</VisibleText>)).toBe('␣␣␣')
    expect(words(<VisibleText max={60}>{' a b '}</VisibleText>)).toBe(' a b ')
    expect(words(<VisibleText max={8_192}>{'   '}</VisibleText>)).toBe('   ')
  })

  it('escapes markup and isolates text direction', () => {
    const html = renderToStaticMarkup(<VisibleText>{'<img onerror=alert(1)>\u202E'}</VisibleText>)
    expect(html).toContain('&lt;img onerror=alert(1)&gt;')
    expect(html).toMatch(/^<bdi /)
    expect(html).not.toContain('\u202E')
  })
})

describe('shortenMiddle', () => {
  it('keeps both ends within the given length', () => {
    expect(shortenMiddle('axn_01m7xr88hmfyfvcz4dw7s0q9y6', 16)).toBe('axn_01m7…7s0q9y6')
    expect(shortenMiddle('axn_short', 16)).toBe('axn_short')
    expect([...shortenMiddle('😀'.repeat(40), 16)]).toHaveLength(16)
  })
})

describe('cutEnd', () => {
  it('never splits a character', () => {
    expect(cutEnd('ab😀cd', 3)).toBe('ab…')
    expect(cutEnd('ab😀cd', 4)).toBe('ab😀…')
    expect(cutEnd('abc', 3)).toBe('abc')
  })
})

describe('visibleJson', () => {
  it('escapes invisible characters without changing the document', () => {
    const value = { name: 'a\u202Eb\n\u{E0001}', list: [1] }
    expect(visibleJson(value)).toContain('a\\u202eb\\n\\udb40\\udc01')
    expect(JSON.parse(visibleJson(value))).toEqual(value)
  })
})
