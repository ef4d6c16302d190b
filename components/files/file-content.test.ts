import { expect, it } from 'vitest'
import { decodeFile, editRefusal, imageType, lineEnding } from './file-content.ts'

it('omits a character cut by the read limit', () => {
  const cut = Uint8Array.from([0x61, 0xc3])
  expect(decodeFile(cut, false)).toEqual({ text: 'a', isExact: true })
  expect(decodeFile(cut, true)).toEqual({ text: 'a\ufffd', isExact: false })
})

it('shows text with invalid bytes but edits only UTF-8', () => {
  const read = (text: string, encoding: BufferEncoding = 'latin1') => decodeFile(Buffer.from(text, encoding), true)
  expect(read('line 1\nbad \xff byte\nline 3\n')).toEqual({ text: 'line 1\nbad \ufffd byte\nline 3\n', isExact: false })
  expect(read('line 1\na\0b\nline 3\n')).toEqual({ text: 'line 1\na\0b\nline 3\n', isExact: false })
  expect(read('\ufeffline\n', 'utf16le')).toEqual({ text: 'line\n', isExact: false })
  expect(read('\ufeffline\n', 'utf8')).toEqual({ text: '\ufeffline\n', isExact: true })
  expect(read('\x00\x01\x02\xff\xfe\x80'.repeat(40))).toBeNull()
  const content = { kind: 'text', isWhole: true, shownBytes: 1, sizeBytes: 1 } as const
  expect(editRefusal({ ...content, text: 'a\0b', isExact: false })).toContain('not UTF-8')
})

it('detects images by their first bytes, except SVG', () => {
  const type = (text: string) => imageType(Uint8Array.from(text, (character) => character.charCodeAt(0)))
  expect([type('\x89PNG\r\n\x1a\n'), type('RIFF1234WEBPVP8 '), type('\xff\xd8\xff\xe0')]).toEqual([
    'image/png',
    'image/webp',
    'image/jpeg',
  ])
  expect([type('<svg xmlns="x">'), type('BMW is a car'), type('')]).toEqual([null, null, null])
})

it('edits only text with consistent line endings', () => {
  expect(['', 'a', 'a\nb', 'a\r\nb\r\n', 'a\r\nb\n', 'a\rb'].map(lineEnding)).toEqual([
    '\n',
    '\n',
    '\n',
    '\r\n',
    'mixed',
    'mixed',
  ])
  const text = { kind: 'text', text: 'a', isWhole: true, isExact: true, shownBytes: 1, sizeBytes: 1 } as const
  expect(editRefusal(text)).toBeNull()
  expect(editRefusal({ ...text, isWhole: false })).toContain('too large')
  expect(editRefusal({ ...text, text: 'a\rb\n' })).toContain('line endings')
})
