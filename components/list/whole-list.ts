import type { QueryClient, QueryFunction, QueryKey } from '@tanstack/react-query'
import type { ListParams, ListSource } from './list-source.ts'

/** Small enough for steady progress. */
const rowsPerCall = 200

/** Reads a whole list page by page, from where its address starts; `rows` are filtered and sorted as on the page. */
export const wholeList = <Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }>(
  source: Pick<ListSource<Params, ListQuery, Page, PageParam, Row>, 'queryOf' | 'list' | 'matches' | 'arrange'>,
  params: Params,
  client: QueryClient,
) => {
  const query = { ...source.queryOf(params), limit: rowsPerCall }
  const { queryKey, queryFn, initialPageParam, getNextPageParam, rowsOf } = source.list(query)
  const readPage = queryFn as QueryFunction<Page, QueryKey, PageParam>
  let next: PageParam | null | undefined = initialPageParam
  const pages: Page[] = []
  const pageParams: PageParam[] = []
  // By ID: a row that moves while the list is read is returned twice.
  const rows = new Map<string, Row>()
  let isComplete = false
  return {
    /** Continues where the last read failed. */
    read: async (signal: AbortSignal, onPage: () => void): Promise<void> => {
      while (!isComplete) {
        const pageParam = next as PageParam
        const page = await readPage({ client, queryKey, signal, pageParam, direction: 'forward', meta: undefined })
        signal.throwIfAborted()
        pages.push(page)
        pageParams.push(pageParam)
        for (const row of rowsOf(page)) rows.set(row.id, row)
        next = getNextPageParam(page, pages, pageParam, pageParams)
        isComplete = next == null
        onPage()
      }
    },
    /** Rows read so far. */
    count: () => rows.size,
    /** Null if unknown. */
    total: (): number | null => {
      const { total_count } = (pages[0] ?? {}) as { total_count?: number | null }
      return params.starting_after || !Number.isFinite(total_count) ? null : Math.max(total_count as number, rows.size)
    },
    rows: (): readonly Row[] => {
      const matching = [...rows.values()].filter(source.matches?.(query) ?? (() => true))
      return source.arrange?.(matching, params) ?? matching
    },
  }
}
