import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type NonUndefinedGuard,
  type Query,
  type QueryClient,
  type QueryKey,
  queryOptions,
} from '@tanstack/react-query'
import { retryDelayMs } from '../../api/failures.ts'
import type { RowRange } from '../../lists/refreshed-pages.ts'
import { refreshKey, tabLists } from './tab-lists.ts'

interface ListReading<ListQuery, Page, Row> {
  queryKey: QueryKey
  query: ListQuery
  read: (query: ListQuery, signal: AbortSignal) => Promise<Page>
  rowsOf: (page: Page) => readonly Row[]
}

interface ListPages<ListQuery, Page> extends ListReading<ListQuery, Page, { id: string }> {
  refetchInterval?: (query: Query<Page, Error, InfiniteData<Page, string | undefined>>) => number | false
}

/** The pages of a list from `query.starting_after` on, each from the last row of the one before. */
export const listPages = <
  ListQuery extends { starting_after?: string | undefined },
  Page extends { has_more: boolean },
>({
  queryKey,
  query,
  read,
  rowsOf,
  refetchInterval,
}: ListPages<ListQuery, Page>) =>
  infiniteQueryOptions<Page, Error, InfiniteData<Page, string | undefined>, QueryKey, string | undefined>({
    queryKey,
    queryFn: ({ pageParam, signal }) => read({ ...query, starting_after: pageParam }, signal),
    initialPageParam: query.starting_after,
    getNextPageParam: (page) => (page.has_more ? rowsOf(page).at(-1)?.id : undefined),
    placeholderData: keepPreviousData,
    ...(refetchInterval && { refetchInterval }),
  })

export interface Refreshed<ListQuery, Page, Row> extends ListReading<ListQuery, Page, Row> {
  withRows: (page: Page, rows: readonly Row[]) => Page
  /** While one of the rows that are shown does, they are read again soon. */
  goesOn?: (row: Row) => boolean
  /** All rows are read that are loaded, not only those that are shown; a list that goes on keeps its length. */
  isWhole?: boolean
  /** How long so many loaded rows stand before they are read again, where that is not half a minute. */
  restsMs?: (loaded: number) => number
}

/** What a page shows of the rows that are loaded. */
export interface Shown<Row> extends RowRange {
  rows: readonly Row[]
  loaded: number
}

/**
 * Reads the rows of a list again that are shown, in one call however many pages are loaded, and once for all tabs of the
 * browser. Whatever makes the list ask again makes this one ask. Its data is when the rows shown were last read, or null
 * while that was by the list itself.
 */
export const listRefresh = <
  ListQuery extends { starting_after?: string | undefined; limit?: number | undefined },
  Page extends { has_more: boolean },
  Row extends { id: string },
>(
  list: Refreshed<ListQuery, Page, Row>,
  shown: () => Shown<Row>,
) => {
  const { queryKey, goesOn = () => false, restsMs = () => restingMs } = list
  const turn = () => {
    const { rows, loaded, ...range } = shown()
    return { ...range, everyMs: rows.some(goesOn) ? movingMs : restsMs(loaded) }
  }
  // Behind an import: no page needs it to be drawn.
  const load = () => import('./refresh.ts')
  const query = queryOptions<number | null, Error, number | null, QueryKey>({
    queryKey: refreshKey(queryKey),
    queryFn: async ({ client, signal }) => (await load()).refreshList(list, { ...turn(), client, signal }),
    refetchInterval: ({ state: { error } }) => retryDelayMs(error) || turn().everyMs,
    // The list itself has just read its rows.
    initialData: null,
    retry: false,
  })
  return {
    query,
    /** Takes what other tabs read of the list, until the returned function is called. */
    join: (client: QueryClient) =>
      tabLists(client).join(queryKey, async (reading) => (await load()).takeRows(list, client, shown(), reading)),
  }
}

export const movingMs = 2_000

/** What this page puts into the cache itself, beginning with `first`: never fetched, and kept as long as the page. */
export const pushed = <Data>(queryKey: QueryKey, first: NonUndefinedGuard<Data>) =>
  queryOptions<Data, Error, Data, QueryKey>({
    queryKey,
    queryFn: () => first,
    enabled: false,
    initialData: first,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })

/** When a list is read again: often while one of its rows goes on, less often the more pages each reading takes. */
export const pollWhile =
  <Page>(goesOn: (page: Page) => boolean) =>
  ({ state: { data, error } }: Query<Page, Error, InfiniteData<Page, string | undefined>>): number | false => {
    if (error) return retryDelayMs(error)
    return data?.pages.some(goesOn) ? runningMs * data.pages.length : restingMs
  }

const runningMs = 2_000
const restingMs = 30_000

/** The keys that the metadata of listed things has, or the values of one key, to choose filters from. */
export const metadataWords = <Words>(queryKey: QueryKey, read: (signal: AbortSignal) => Promise<Words>) =>
  queryOptions<Words, Error, Words, QueryKey>({ queryKey, queryFn: ({ signal }) => read(signal), staleTime: 60_000 })
