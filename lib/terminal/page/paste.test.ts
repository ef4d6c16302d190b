import { describe, expect, it } from 'vitest'
import { asOneLine, cleanPaste, type PasteCircumstances, pasteQuestion, promptText } from './paste.ts'

describe('pasted text', () => {
  it('cannot end a bracketed paste or send other sequences', () => {
    expect(cleanPaste('a\x1b[201~; rm -rf ~\n')).toBe('a[201~; rm -rf ~\n')
    expect(cleanPaste('a\x9b201~b')).toBe('a201~b')
    // Removing one sequence must not form another.
    expect(cleanPaste('\x1b\x1b[201~\x1b\x00[201~')).toBe('[201~[201~')
    const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((each) =>
      /\p{Cc}/u.test(each),
    )
    expect(cleanPaste(controls.join(''))).toBe('\t\n\r')
  })
})

const ordinary: PasteCircumstances = { policy: 'always', isBracketed: true, isRecorded: false }
const reasons = (text: string, circumstances: Partial<PasteCircumstances> = {}) =>
  pasteQuestion(text, { ...ordinary, ...circumstances })?.reasons ?? null

describe('a confirmation', () => {
  it('is required for several lines', () => {
    for (const text of ['a\nb', 'a\rb', 'a\r\nb', '\na', 'a\n\n', '\n\n']) expect(reasons(text)).toEqual(['lines'])
  })

  it('is required for a line that would run by itself', () => {
    expect(reasons('ls\n')).toBeNull()
    expect(reasons('ls\n', { isBracketed: false })).toEqual(['lines'])
    expect(reasons('ls\r', { isBracketed: false })).toEqual(['lines'])
  })

  it('can be limited to shells without bracketed paste', () => {
    expect(reasons('a\nb', { policy: 'unbracketed' })).toBeNull()
    expect(reasons('a\nb', { policy: 'unbracketed', isBracketed: false })).toEqual(['lines'])
    expect(reasons('a\n', { policy: 'unbracketed', isBracketed: false })).toBeNull()
  })

  it('can be turned off for lines, but not for an unusual size', () => {
    expect(reasons('a\nb', { policy: 'never', isBracketed: false })).toBeNull()
    expect(reasons('x'.repeat(100_001), { policy: 'never' })).toEqual(['size'])
    expect(reasons('x'.repeat(100_000), { policy: 'never' })).toBeNull()
  })

  it('is required for secrets only while recording', () => {
    const text = 'export DB_PASSWORD=correct-horse'
    expect(reasons(text)).toBeNull()
    expect(reasons(text, { isRecorded: true, policy: 'never' })).toEqual(['secret'])
    expect(reasons(`a\n${text}`, { isRecorded: true })).toEqual(['secret', 'lines'])
  })

  it('is required for disguised text, not for emoji', () => {
    expect(reasons('rm \u202Efdp.exe')).toEqual(['hidden'])
    expect(reasons('ls\u2028rm')).toEqual(['hidden'])
    expect(reasons('ls \u{E0072}')).toEqual(['hidden'])
    expect(reasons('echo 👩‍💻 می‌خواهم')).toBeNull()
  })
})

describe('as one line', () => {
  it('joins lines with spaces', () => {
    expect(asOneLine('  docker run\t\n\n   --rm  \r\n  alpine\n')).toBe('docker run --rm alpine')
  })

  it('joins continued lines as a shell does', () => {
    expect(asOneLine('curl \\\n  -s \\\n  url')).toBe('curl -s url')
    // An escaped backslash doesn't continue the line, nor does one on the last line.
    expect(asOneLine('a \\\\\nb \\')).toBe('a \\\\ b \\')
  })
})

describe('promptText', () => {
  const put = (text: string, bracketedPaste = true) => promptText(text, { bracketedPaste })

  it('never ends a line', () => {
    for (const end of ['', '\n', '\r', '\r\n', '\n\n\r']) expect(put(`make test${end}`)).toBe('make test')
    expect(put('make test\n', false)).toBe('make test')
  })

  it('inserts several lines only with bracketed paste', () => {
    expect(put('a\nb\n')).toBe('a\nb')
    expect(put('a\nb\n', false)).toBe(null)
    expect(put('a\rb', false)).toBe(null)
  })

  it('cannot end the paste or trigger completion', () => {
    expect(put('a\x1b[201~\rid')).toBe('a[201~\rid')
    expect(put('a\x03b\x00')).toBe('ab')
    expect(put('a\tb', false)).toBe('a b')
  })
})
