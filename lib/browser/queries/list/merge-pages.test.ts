import { expect, it } from 'vitest'
import { mergePages } from './pages.ts'

interface Page {
  rows: readonly { id: string; n?: number }[]
  has_more: boolean
  total_count?: number | null
}
const list = {
  rowsOf: ({ rows }: Page) => rows,
  withRows: (page: Page, rows: Page['rows']) => ({ ...page, rows }),
}
const rows = (ids: string, n = 0) => [...ids].map((id) => ({ id, n }))
const loaded = (...pages: string[]) => ({
  pages: pages.map((ids) => ({ rows: rows(ids), has_more: true, total_count: 99 })),
  pageParams: pages.map((_, i) => (i === 0 ? undefined : pages[i - 1]?.at(-1))),
})
const idsOf = ({ pages }: { pages: Page[] }) => pages.map((page) => page.rows.map(({ id }) => id).join(''))
const merged = (data: ReturnType<typeof loaded>, ids: string, from: number, rest: Partial<Page> = {}) =>
  mergePages(data, { rows: rows(ids, 1), has_more: true, total_count: 100, ...rest }, from, list)

it('replaces the rows that were read, and keeps those before and after', () => {
  const after = merged(loaded('abc', 'def', 'ghi'), 'ef', 4)
  expect(idsOf(after)).toEqual(['abc', 'defghi'])
  expect(after.pages[1]?.rows.map(({ n }) => n)).toEqual([0, 1, 1, 0, 0, 0])
  expect(after.pages.map(({ total_count, has_more }) => [total_count, has_more])).toEqual([
    [100, true],
    [100, true],
  ])
  expect(after.pageParams).toEqual([undefined, 'c'])
})

it('adds new rows and drops removed ones', () => {
  expect(idsOf(merged(loaded('abc', 'def'), 'xyab', 0))).toEqual(['xyabcdef'])
  expect(idsOf(merged(loaded('abc', 'def'), 'acd', 0))).toEqual(['acdef'])
  // A row that moved down is listed once.
  expect(idsOf(merged(loaded('abcdef'), 'bca', 0))).toEqual(['bcadef'])
})

it('keeps the rows below a sorted page, wherever its rows came from', () => {
  const sorted = { ...list, isSorted: true }
  const refreshed = (ids: string, from = 0) =>
    idsOf(mergePages(loaded('abc', 'def', 'ghi'), { rows: rows(ids, 1), has_more: true }, from, sorted))
  expect(refreshed('hab')).toEqual(['habcdefgi'])
  expect(refreshed('xab')).toEqual(['xabcdefghi'])
  expect(refreshed('abd')).toEqual(['abdcefghi'])
  expect(refreshed('fea', 3)).toEqual(['abc', 'feaghi'])
})

it('ends where the answer ends', () => {
  const after = merged(loaded('abc', 'def'), 'b', 1, { has_more: false })
  expect(idsOf(after)).toEqual(['ab'])
  expect(after.pages.at(-1)?.has_more).toBe(false)
})

it('starts over if no row is in common, as rows between may be missing', () => {
  const after = merged(loaded('abc', 'def'), 'xyz', 0)
  expect(idsOf(after)).toEqual(['xyz'])
  expect(after.pages[0]?.has_more).toBe(true)
})
