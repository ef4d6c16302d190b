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
import { ApiError } from '#lib/client/api-error.ts'
import { serviceNow } from '#lib/client/clock.ts'
import { defaultPageSize, maxPageSize } from '#lib/contract/page-sizes.ts'
import { isMissing, retryDelayMs } from '../../api/failures.ts'
import { isSortedByService } from '../../lists/service-sort.ts'
import { isUnsupported } from '../support-key.ts'

interface PagingQuery {
  starting_after?: string | undefined
  limit?: number | undefined
}

interface HasMore {
  has_more: boolean
}

interface HasId {
  id: string
}

interface ListReader<ListQuery, Page, Row> {
  queryKey: QueryKey
  query: ListQuery
  read: (query: ListQuery, signal: AbortSignal) => Promise<Page>
  rowsOf: (page: Page) => readonly Row[]
}

interface ListPages<ListQuery, Page, Row> extends ListReader<ListQuery, Page, Row> {
  refetchInterval?: (query: Query<Page, Error, InfiniteData<Page, string | undefined>>) => number | false
}

/** The pages of a list from `query.starting_after` on. */
export const listPages = <ListQuery extends PagingQuery, Page extends HasMore, Row extends HasId>({
  queryKey,
  query,
  read,
  rowsOf,
  refetchInterval,
}: ListPages<ListQuery, Page, Row>) => ({
  ...infiniteQueryOptions<Page, Error, InfiniteData<Page, string | undefined>, QueryKey, string | undefined>({
    queryKey,
    queryFn: ({ pageParam, signal }) => read({ ...query, starting_after: pageParam }, signal),
    initialPageParam: query.starting_after,
    getNextPageParam: (page) => (page.has_more ? rowsOf(page).at(-1)?.id : undefined),
    placeholderData: keepPreviousData,
    ...(refetchInterval && { refetchInterval }),
  }),
  rowsOf,
})

export interface Refreshed<ListQuery, Page, Row> extends ListReader<ListQuery, Page, Row> {
  withRows: (page: Page, rows: readonly Row[]) => Page
  /** A row in view that will change soon; the list is then polled often. */
  isActive?: (row: Row) => boolean
  isWhole?: boolean
  idleMs?: (loaded: number) => number
}

interface RowRange {
  from: number
  to: number
}

export interface Shown<Row> extends RowRange {
  rows: readonly Row[]
  loaded: number
}

/** Reads the rows in view again in one call. The data is the time of the last read, or null before the first. */
export const listRefresh = <ListQuery extends PagingQuery, Page extends HasMore, Row extends HasId>(
  list: Refreshed<ListQuery, Page, Row>,
  shown: () => Shown<Row>,
) => {
  const { isActive = () => false, idleMs = () => idleListMs } = list
  return queryOptions<number | null, Error, number | null, QueryKey>({
    queryKey: [...list.queryKey, 'refresh'],
    queryFn: async ({ client, signal }) => {
      await refreshRows(list, shown(), client, signal)
      return serviceNow()
    },
    refetchInterval: ({ state: { error } }) => {
      const { rows, loaded } = shown()
      return retryDelayMs(error) || (rows.some(isActive) ? activeListMs : idleMs(loaded))
    },
    initialData: null,
    retry: false,
  })
}

/** Rows read before and after those in view, so that a short scroll shows nothing stale. */
const margin = 15

const refreshRows = async <ListQuery extends PagingQuery, Page extends HasMore, Row extends HasId>(
  list: Refreshed<ListQuery, Page, Row>,
  shown: Shown<Row>,
  client: QueryClient,
  signal: AbortSignal,
): Promise<void> => {
  const { queryKey, query, isWhole } = list
  const loaded = client.getQueryData<InfiniteData<Page, string | undefined>>(queryKey)?.pages.flatMap(list.rowsOf)
  if (!loaded) return
  const wanted = isWhole && loaded.length <= maxPageSize ? { from: 0, to: loaded.length } : shown
  const from = Math.max(0, Math.min(wanted.from - margin, loaded.length - 1))
  const limit = Math.min(maxPageSize, Math.max(wanted.to + margin - from, query.limit ?? defaultPageSize))
  const merged = { ...list, isSorted: isSortedByService(query) }
  const read = async (starting_after: string | undefined) => {
    const answer = await list.read({ ...query, starting_after, limit }, signal)
    client.setQueryData<InfiniteData<Page, string | undefined>>(queryKey, (data) => {
      if (!data) return data
      if (starting_after === query.starting_after) return mergePages(data, answer, 0, merged)
      const place = data.pages.flatMap(list.rowsOf).findIndex(({ id }) => id === starting_after)
      return place === -1 ? data : mergePages(data, answer, place + 1, merged)
    })
  }
  try {
    await read(from === 0 ? query.starting_after : loaded[from - 1]?.id)
  } catch (error) {
    // The row to start after was deleted.
    if (from === 0 || !isMissing(error)) throw error
    await read(query.starting_after)
  }
}

interface Merged<Page, Row> extends Pick<Refreshed<never, Page, Row>, 'rowsOf' | 'withRows' | 'isWhole'> {
  /** Rows may come from anywhere in the list, because their values changed. */
  isSorted?: boolean
}

/** Replaces the rows from `from` on with `answer`. Rows after the last common one stay. */
export const mergePages = <Page extends HasMore, Row extends HasId, Param>(
  { pages, pageParams }: InfiniteData<Page, Param>,
  answer: Page & { total_count?: number | null | undefined },
  from: number,
  { rowsOf, withRows, isWhole, isSorted }: Merged<Page, Row>,
): InfiniteData<Page, Param> => {
  const loaded = pages.flatMap(rowsOf)
  const places = new Map(loaded.map(({ id }, place) => [id, place]))
  const fresh = rowsOf(answer)
  const end = from + fresh.length
  const isNew = ({ id }: Row) => !((places.get(id) ?? -1) >= from && (places.get(id) ?? end) < end)
  const behind = isSorted
    ? end - fresh.filter(isNew).length
    : fresh.reduce((last, { id }) => Math.max(last, (places.get(id) ?? -1) + 1), from)
  const freshIds = new Set(fresh.map(({ id }) => id))
  const keepsRest = answer.has_more && behind > from && behind < loaded.length
  // A row that moved down is shown where it is now.
  const rest = keepsRest ? loaded.slice(behind).filter(({ id }) => !freshIds.has(id)) : []

  const counted = typeof answer.total_count === 'number' ? { total_count: answer.total_count } : {}
  const before: Page[] = []
  let start = 0
  for (const page of pages) {
    const { length } = rowsOf(page)
    if (before.length === pages.length - 1 || start + length > from) break
    before.push({ ...page, ...counted })
    start += length
  }
  const hadMore = pages.at(-1)?.has_more ?? false
  const rows = [...loaded.slice(start, from), ...fresh, ...rest]
  // A partly loaded list keeps its length.
  const fitting = isWhole && hadMore ? rows.slice(0, loaded.length - start) : rows
  const has_more = fitting.length < rows.length || (keepsRest ? hadMore : answer.has_more)
  const last = { ...withRows(answer, fitting), ...counted, has_more }
  return { pages: [...before, last], pageParams: pageParams.slice(0, before.length + 1) }
}

/** Data that the page itself writes to the cache, starting with `first`; never fetched. */
export const pushed = <Data>(queryKey: QueryKey, first: NonUndefinedGuard<Data>) =>
  queryOptions<Data, Error, Data, QueryKey>({
    queryKey,
    queryFn: () => first,
    enabled: false,
    initialData: first,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })

/** Polls often while a page has an active row, and less often the more pages are loaded. */
export const pollWhile =
  <Page>(isActive: (page: Page) => boolean) =>
  ({ state: { data, error } }: Query<Page, Error, InfiniteData<Page, string | undefined>>): number | false => {
    if (error) return retryDelayMs(error)
    return data?.pages.some(isActive) ? activeListMs * data.pages.length : idleListMs
  }

const activeListMs = 2_000
const idleListMs = 30_000

/** Metadata keys, or the values of one key, to suggest in filters. */
export const metadataWords = <Words>(queryKey: QueryKey, read: (signal: AbortSignal) => Promise<Words>) =>
  queryOptions<Words, Error, Words, QueryKey>({
    queryKey,
    queryFn: ({ signal, client }) => {
      // The first part of the key is the resource. Without suggestions, pages use the metadata of the loaded rows.
      if (isUnsupported(client, `${queryKey[0]}.metadataKeys`))
        throw new ApiError('not_implemented', 501, "This service doesn't list its metadata")
      return read(signal)
    },
    staleTime: 60_000,
  })
