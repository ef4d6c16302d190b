import { describe, expect, it } from 'vitest'
import { asOneLine, cleanPaste, lineCount, type PasteCircumstances, pasteQuestion, promptText } from './paste.ts'

describe('what is pasted', () => {
  it('cannot end a bracketed paste, nor send any other sequence', () => {
    expect(cleanPaste('a\x1b[201~; rm -rf ~\n')).toBe('a[201~; rm -rf ~\n')
    expect(cleanPaste('a\x9b201~b')).toBe('a201~b')
    // Removing one sequence must not form another.
    expect(cleanPaste('\x1b\x1b[201~\x1b\x00[201~')).toBe('[201~[201~')
    const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((each) =>
      /\p{Cc}/u.test(each),
    )
    expect(cleanPaste(controls.join(''))).toBe('\t\n\r')
  })

  it('stays as it is otherwise', () => {
    const text = 'if x:\n\tprint("é 日本 👩‍💻")\r\n'
    expect(cleanPaste(text)).toBe(text)
  })
})

const ordinary: PasteCircumstances = { policy: 'always', isBracketed: true, isRecorded: false }
const reasons = (text: string, circumstances: Partial<PasteCircumstances> = {}) =>
  pasteQuestion(text, { ...ordinary, ...circumstances })?.reasons ?? null

describe('a question', () => {
  it('comes before several lines, whatever ends them', () => {
    for (const text of ['a\nb', 'a\rb', 'a\r\nb', '\na', 'a\n\n', '\n\n']) expect(reasons(text)).toEqual(['lines'])
  })

  it('comes before a line with its end where that would run it', () => {
    expect(reasons('ls\n')).toBeNull()
    expect(reasons('ls\n', { isBracketed: false })).toEqual(['lines'])
    expect(reasons('ls\r', { isBracketed: false })).toEqual(['lines'])
  })

  it('can be kept for shells that run the lines as they come', () => {
    expect(reasons('a\nb', { policy: 'unbracketed' })).toBeNull()
    expect(reasons('a\nb', { policy: 'unbracketed', isBracketed: false })).toEqual(['lines'])
    expect(reasons('a\n', { policy: 'unbracketed', isBracketed: false })).toBeNull()
  })

  it('can be switched off for lines, but not for a size nobody pastes on purpose', () => {
    expect(reasons('a\nb', { policy: 'never', isBracketed: false })).toBeNull()
    expect(reasons('x'.repeat(100_001), { policy: 'never' })).toEqual(['size'])
    expect(reasons('x'.repeat(100_000), { policy: 'never' })).toBeNull()
  })

  it('comes before a secret only while the terminal is recorded', () => {
    const text = 'export DB_PASSWORD=correct-horse'
    expect(reasons(text)).toBeNull()
    expect(reasons(text, { isRecorded: true, policy: 'never' })).toEqual(['secret'])
    expect(reasons(`a\n${text}`, { isRecorded: true })).toEqual(['secret', 'lines'])
  })

  it('comes before text that shows otherwise than it runs, not before an emoji', () => {
    expect(reasons('rm \u202Efdp.exe')).toEqual(['hidden'])
    expect(reasons('ls\u2028rm')).toEqual(['hidden'])
    expect(reasons('ls \u{E0072}')).toEqual(['hidden'])
    expect(reasons('echo 👩‍💻 می‌خواهم')).toBeNull()
  })

  it('counts lines as people do and knows where the secrets are', () => {
    expect(pasteQuestion('a\r\nb\r\nTOKEN=abcdefghij\r\n', ordinary)).toMatchObject({
      lines: 3,
      secrets: [{ kind: 'a named secret' }],
    })
    expect(['', 'a', 'a\n', 'a\nb', 'a\n\n'].map(lineCount)).toEqual([1, 1, 1, 2, 2])
  })
})

describe('as one line', () => {
  it('joins by blanks, without the white space around the ends', () => {
    expect(asOneLine('  docker run\t\n\n   --rm  \r\n  alpine\n')).toBe('docker run --rm alpine')
  })

  it('joins a continued line as a shell does', () => {
    expect(asOneLine('curl \\\n  -s \\\n  url')).toBe('curl -s url')
    // An escaped backslash doesn't continue the line, nor does one on the last line.
    expect(asOneLine('a \\\\\nb \\')).toBe('a \\\\ b \\')
  })

  it('holds no line end, so that nothing in it runs', () => {
    expect(asOneLine('\r\n a \r b \n')).not.toMatch(/[\r\n]/)
  })
})

describe('promptText', () => {
  const put = (text: string, bracketedPaste = true) => promptText(text, { bracketedPaste })

  it('never ends a line, so that nothing is run', () => {
    for (const end of ['', '\n', '\r', '\r\n', '\n\n\r']) expect(put(`make test${end}`)).toBe('make test')
    expect(put('make test\n', false)).toBe('make test')
  })

  it('puts several lines only where they are told from typing', () => {
    expect(put('a\nb\n')).toBe('a\nb')
    expect(put('a\nb\n', false)).toBe(null)
    expect(put('a\rb', false)).toBe(null)
  })

  it('lets nothing end the paste or complete the line', () => {
    expect(put('a\x1b[201~\rid')).toBe('a[201~\rid')
    expect(put('a\x03b\x00')).toBe('ab')
    expect(put('a\tb', false)).toBe('a b')
  })

  it('has nothing to put where there is nothing', () => {
    expect(put('\n')).toBe(null)
    expect(put('\x1b')).toBe(null)
  })
})
