import { expect, it } from 'vitest'
import { delimiterOf, parseCsv } from './csv.ts'

const rows = (text: string, delimiter = ',') => parseCsv(text, delimiter, 100).rows

it('reads quoted values with delimiters, line breaks and quotes', () => {
  expect(rows('a,"b,c","d\ne","f ""g"""\r\n"",h,,\n')).toEqual([
    ['a', 'b,c', 'd\ne', 'f "g"'],
    ['', 'h', '', ''],
  ])
  expect(rows('\ufeff1\t"2"\n3', '\t')).toEqual([['1', '2'], ['3']])
})

it('survives malformed quotes and empty texts', () => {
  expect(rows('a,"open\nto the end')).toEqual([['a', 'open\nto the end']])
  expect(rows('"a"b,c')).toEqual([['ab', 'c']])
  expect(rows('')).toEqual([])
  expect(rows('\n\n')).toEqual([[''], ['']])
})

it('stops after the limit and reports that there is more', () => {
  expect(parseCsv('1\n2\n3\n', ',', 2)).toEqual({ rows: [['1'], ['2']], hasMore: true })
  expect(parseCsv('1\n2\n', ',', 2).hasMore).toBe(false)
})

it('detects the delimiter outside quotes', () => {
  expect([
    delimiterOf('x.tsv', 'a,b'),
    delimiterOf('x.csv', '"a;b;c",d'),
    delimiterOf('x.csv', 'a;b;c,d'),
    delimiterOf('x.csv', 'alone'),
  ]).toEqual(['\t', ',', ';', ','])
})
