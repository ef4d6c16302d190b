import { expect, it } from 'vitest'
import { refreshedPages } from './refreshed-pages.ts'

interface Page {
  rows: readonly { id: string; n?: number }[]
  has_more: boolean
  total_count?: number | null
}
const pageRows = {
  rowsOf: ({ rows }: Page) => rows,
  withRows: (page: Page, rows: Page['rows']) => ({ ...page, rows }),
}
const rows = (ids: string, n = 0) => [...ids].map((id) => ({ id, n }))
const loaded = (...pages: string[]) => ({
  pages: pages.map((ids) => ({ rows: rows(ids), has_more: true, total_count: 99 })),
  pageParams: pages.map((_, i) => (i === 0 ? undefined : pages[i - 1]?.at(-1))),
})
const idsOf = ({ pages }: { pages: Page[] }) => pages.map((page) => page.rows.map(({ id }) => id).join(''))
const refreshed = (data: ReturnType<typeof loaded>, ids: string, from: number, rest: Partial<Page> = {}) =>
  refreshedPages(data, { rows: rows(ids, 1), has_more: true, total_count: 100, ...rest }, from, pageRows)

it('replaces what is read again, and keeps what is before and behind it', () => {
  const after = refreshed(loaded('abc', 'def', 'ghi'), 'ef', 4)
  expect(idsOf(after)).toEqual(['abc', 'defghi'])
  expect(after.pages[1]?.rows.map(({ n }) => n)).toEqual([0, 1, 1, 0, 0, 0])
  expect(after.pages.map(({ total_count, has_more }) => [total_count, has_more])).toEqual([
    [100, true],
    [100, true],
  ])
  expect(after.pageParams).toEqual([undefined, 'c'])
})

it('takes in new rows, and lets go of those that are gone', () => {
  expect(idsOf(refreshed(loaded('abc', 'def'), 'xyab', 0))).toEqual(['xyabcdef'])
  expect(idsOf(refreshed(loaded('abc', 'def'), 'acd', 0))).toEqual(['acdef'])
  expect(idsOf(refreshed(loaded('abc', 'def'), 'df', 3))).toEqual(['abc', 'df'])
  expect(idsOf(refreshed(loaded('abc', 'def'), 'efgh', 4))).toEqual(['abc', 'defgh'])
  // One that has moved down stands once.
  expect(idsOf(refreshed(loaded('abcdef'), 'bca', 0))).toEqual(['bcadef'])
})

it('ends where the answer ends', () => {
  const after = refreshed(loaded('abc', 'def'), 'b', 1, { has_more: false })
  expect(idsOf(after)).toEqual(['ab'])
  expect(after.pages.at(-1)?.has_more).toBe(false)
  expect(idsOf(refreshed(loaded('abc'), '', 0, { has_more: false }))).toEqual([''])
})

it('begins anew where nothing is in common, as rows between may be missing', () => {
  const after = refreshed(loaded('abc', 'def'), 'xyz', 0)
  expect(idsOf(after)).toEqual(['xyz'])
  expect(after.pages[0]?.has_more).toBe(true)
})
