import { expect, it } from 'vitest'
import { styledLines, styledPieces, withoutStyles } from './ansi.ts'

const looks = (text: string) => styledPieces(text).pieces.map((piece) => [piece.text, piece.style])

it('gives each piece the style that is in force, until it is reset', () => {
  expect(looks('a\x1b[1;31mb\x1b[0mc\x1b[92md\x1b[39me')).toEqual([
    ['a', {}],
    ['b', { bold: true, colour: 1 }],
    ['c', {}],
    ['d', { colour: 10 }],
    ['e', { colour: undefined }],
  ])
})

it('reads the long colours with semicolons and with colons', () => {
  expect(looks('\x1b[38;5;196mr\x1b[48;2;1;2;255mb\x1b[0;38:5:3my')).toEqual([
    ['r', { colour: '255 0 0' }],
    ['b', { colour: '255 0 0', background: '1 2 255' }],
    ['y', { colour: 3 }],
  ])
})

it('goes on in the next piece, also in the middle of a sequence', () => {
  const first = styledPieces('a\x1b[3')
  const next = styledPieces('1mb', first.end)
  expect(first.pieces.map(({ text }) => text)).toEqual(['a'])
  expect(next.pieces).toMatchObject([{ text: 'b', style: { colour: 1 } }])
  expect(styledPieces('c', next.end).pieces).toMatchObject([{ text: 'c', style: { colour: 1 } }])
})

it('ignores what it does not know, and leaves plain text without styles', () => {
  expect(looks('\x1b[5;38;77mx')).toEqual([['x', {}]])
  expect(withoutStyles('\x1b[1mbold\x1b[m text')).toBe('bold text')
})

it('cuts styled text into lines, each with its styles', () => {
  const { pieces } = styledPieces('one\n\x1b[1mtwo\nthr\x1b[0mee\n\nfour\n')
  const lines = styledLines(pieces)
  expect(lines.map((line) => line.map(({ text }) => text))).toEqual([['one'], ['two'], ['thr', 'ee'], [], ['four']])
  expect(lines[2]?.map(({ style }) => style.bold ?? false)).toEqual([true, false])
  expect(new Set(lines.flat().map(({ at }) => at)).size).toBe(5)
  expect(styledLines([])).toEqual([])
})
