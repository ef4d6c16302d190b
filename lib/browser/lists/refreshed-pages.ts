import type { InfiniteData } from '@tanstack/react-query'

/** How the rows of a page are read and replaced. */
export interface PageRows<Page, Row> {
  rowsOf: (page: Page) => readonly Row[]
  withRows: (page: Page, rows: readonly Row[]) => Page
  /** A list that goes on keeps its length. */
  isWhole?: boolean
}

/** Loaded rows, from the first to the one after the last. */
export interface RowRange {
  from: number
  to: number
}

/**
 * The loaded pages with the rows from `from` on as `answer` has them, which was read from the row before that. All pages
 * before it stay as they are; behind the last row that the answer and the pages have in common the loaded rows stay.
 * Where they have none in common, what follows the answer is unknown and left to be loaded again.
 */
export const refreshedPages = <Page extends { has_more: boolean }, Row extends { id: string }, Param>(
  { pages, pageParams }: InfiniteData<Page, Param>,
  answer: Page & { total_count?: number | null | undefined },
  from: number,
  { rowsOf, withRows, isWhole }: PageRows<Page, Row>,
): InfiniteData<Page, Param> => {
  const loaded = pages.flatMap(rowsOf)
  const places = new Map(loaded.map(({ id }, place) => [id, place]))
  // A row that has moved down stands where it is now.
  const fresh = rowsOf(answer)
  const behind = fresh.reduce((last, { id }) => Math.max(last, (places.get(id) ?? -1) + 1), from)
  const freshIds = new Set(fresh.map(({ id }) => id))
  const goesOn = answer.has_more && behind > from && behind < loaded.length
  const rest = goesOn ? loaded.slice(behind).filter(({ id }) => !freshIds.has(id)) : []

  const counted = typeof answer.total_count === 'number' ? { total_count: answer.total_count } : {}
  const kept: Page[] = []
  let start = 0
  for (const page of pages) {
    const rows = rowsOf(page)
    if (kept.length === pages.length - 1 || start + rows.length > from) break
    kept.push({ ...page, ...counted })
    start += rows.length
  }
  const before = loaded.slice(start, from)
  const had_more = pages.at(-1)?.has_more ?? false
  const rows = [...before, ...fresh, ...rest]
  const fitting = isWhole && had_more ? rows.slice(0, loaded.length - start) : rows
  const has_more = fitting.length < rows.length || (goesOn ? had_more : answer.has_more)
  const last = { ...withRows(answer, fitting), ...counted, has_more }
  return { pages: [...kept, last], pageParams: pageParams.slice(0, kept.length + 1) }
}
