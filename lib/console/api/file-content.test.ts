import { expect, it } from 'vitest'
import { editRefusal, imageTypeOf, lineEndsOf, textOf } from './file-content.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)

it('leaves out a character that was cut, but takes no half of one for text', () => {
  expect(textOf(bytes(0x61, 0xc3), false)).toBe('a')
  expect(textOf(bytes(0x61, 0xc3), true)).toBeNull()
})

it('knows images by their first bytes, and SVG for none', () => {
  const type = (text: string) => imageTypeOf(Uint8Array.from(text, (character) => character.charCodeAt(0)))
  expect([type('\x89PNG\r\n\x1a\n'), type('RIFF1234WEBPVP8 '), type('\xff\xd8\xff\xe0')]).toEqual([
    'image/png',
    'image/webp',
    'image/jpeg',
  ])
  expect([type('<svg xmlns="x">'), type('BMW is a car'), type('')]).toEqual([null, null, null])
})

it('edits a text whose line ends it can keep', () => {
  expect(['', 'a', 'a\nb', 'a\r\nb\r\n', 'a\r\nb\n', 'a\rb'].map(lineEndsOf)).toEqual([
    '\n',
    '\n',
    '\n',
    '\r\n',
    'mixed',
    'mixed',
  ])
  const text = { kind: 'text', text: 'a', isWhole: true, shownBytes: 1, sizeBytes: 1 } as const
  expect(editRefusal(text)).toBeNull()
  expect(editRefusal({ ...text, isWhole: false })).toContain('too large')
  expect(editRefusal({ ...text, text: 'a\rb\n' })).toContain('line ends')
})
