import type { QueryClient, QueryFunction, QueryKey } from '@tanstack/react-query'
import type { ListParams, ListSource } from './list-source.ts'

const rowsPerCall = 200

export interface Progress {
  count: number
  total: number | null
}

/** Reads a whole list page by page, from where its address starts, and filters and sorts it as the page does. */
export const readWholeList = async <Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }>(
  source: Pick<ListSource<Params, ListQuery, Page, PageParam, Row>, 'queryOf' | 'list' | 'matches' | 'arrange'>,
  params: Params,
  client: QueryClient,
  signal: AbortSignal,
  onPage: (progress: Progress) => void,
): Promise<readonly Row[]> => {
  const query = { ...source.queryOf(params), limit: rowsPerCall }
  const { queryKey, queryFn, initialPageParam, getNextPageParam, rowsOf } = source.list(query)
  const readPage = queryFn as QueryFunction<Page, QueryKey, PageParam>
  const pages: Page[] = []
  const pageParams: PageParam[] = []
  // By ID: a row that moves while the list is read is returned twice.
  const rows = new Map<string, Row>()
  let next: PageParam | null | undefined = initialPageParam as PageParam
  do {
    const pageParam = next as PageParam
    const page = await readPage({ client, queryKey, signal, pageParam, direction: 'forward', meta: undefined })
    signal.throwIfAborted()
    pages.push(page)
    pageParams.push(pageParam)
    for (const row of rowsOf(page)) rows.set(row.id, row)
    const { total_count } = pages[0] as { total_count?: number | null }
    const isKnown = !params.starting_after && typeof total_count === 'number'
    onPage({ count: rows.size, total: isKnown ? Math.max(total_count, rows.size) : null })
    next = getNextPageParam(page, pages, pageParam, pageParams)
  } while (next != null)
  const matching = [...rows.values()].filter(source.matches?.(query) ?? (() => true))
  return source.arrange?.(matching, params) ?? matching
}
