import { expect, it } from 'vitest'
import { goneRows } from './gone-rows.ts'

const rows = (...ids: string[]) => ids.map((id) => ({ id }))
const all = (...ids: string[]) => ({ loaded: rows(...ids), shown: rows(...ids) })

it('tells the rows that are missing between others, and not those that are new or moved', () => {
  expect(goneRows(all('d', 'c', 'b', 'a'), all('e', 'd', 'b', 'a'), true)).toEqual(rows('c'))
  expect(goneRows(all('c', 'b', 'a'), all('a', 'b', 'c'), true)).toEqual([])
})

it('does not take for gone what a list that goes on may load again', () => {
  expect(goneRows(all('d', 'c', 'b', 'a'), all('f', 'e', 'd'), true)).toEqual([])
  expect(goneRows(all('b', 'a'), all('z', 'y'), true)).toEqual([])
})

it('takes all that is missing for gone where the list has come to its end', () => {
  expect(goneRows(all('c', 'b', 'a'), all('c'), false)).toEqual(rows('b', 'a'))
  expect(goneRows(all('b', 'a'), all(), false)).toEqual(rows('b', 'a'))
})

it('tells what no longer matches the filters of the page, and nothing of rows it did not show', () => {
  const before = { loaded: rows('c', 'b', 'a'), shown: rows('b', 'a') }
  expect(goneRows(before, { loaded: rows('c', 'b', 'a'), shown: rows('a') }, true)).toEqual(rows('b'))
  expect(goneRows(before, { loaded: rows('b', 'a'), shown: rows('b', 'a') }, true)).toEqual([])
})
