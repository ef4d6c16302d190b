import type { QueryClient, QueryFunction, QueryKey } from '@tanstack/react-query'
import type { ListSource, ListView } from './list-source.ts'

/** Rows of a call: few enough that the next step of the progress is soon there. */
const rowsOfCall = 200

export interface WholeList<Row> {
  /** Reads on from where it is to the end of the list; after a failure it may be called again. */
  read: (signal: AbortSignal, onPage: () => void) => Promise<void>
  /** How many rows the service has given so far. */
  count: () => number
  /** How many it said there are; null when it did not, or of a list that starts later than at its newest row. */
  total: () => number | null
  /** The rows given so far that the page would show, in its order. */
  rows: () => readonly Row[]
}

/** A list from where its address starts to its end, as its page would show it, read page after page. */
export const wholeList = <View extends ListView, Page, Param, Row extends { id: string }>(
  source: Pick<ListSource<View, Page, Param, Row>, 'pages' | 'rowsOf' | 'matches' | 'arrange'>,
  view: View,
  client: QueryClient,
): WholeList<Row> => {
  const { queryKey, queryFn, initialPageParam, getNextPageParam } = source.pages({ ...view, limit: rowsOfCall })
  const call = queryFn as QueryFunction<Page, QueryKey, Param>
  let next: Param | null | undefined = initialPageParam
  const pages: Page[] = []
  const params: Param[] = []
  // A row that moves up meanwhile is given twice.
  const rows = new Map<string, Row>()
  let isWhole = false
  return {
    read: async (signal, onPage) => {
      while (!isWhole) {
        const pageParam = next as Param
        const page = await call({ client, queryKey, signal, pageParam, direction: 'forward', meta: undefined })
        signal.throwIfAborted()
        pages.push(page)
        params.push(pageParam)
        for (const row of source.rowsOf(page)) rows.set(row.id, row)
        next = getNextPageParam(page, pages, pageParam, params)
        isWhole = next == null
        onPage()
      }
    },
    count: () => rows.size,
    total: () => {
      const { total_count } = (pages[0] ?? {}) as { total_count?: number | null }
      return view.starting_after || !Number.isFinite(total_count) ? null : Math.max(total_count as number, rows.size)
    },
    rows: () => {
      const matching = [...rows.values()].filter(source.matches?.(view) ?? (() => true))
      return source.arrange?.rows(matching, view) ?? matching
    },
  }
}
