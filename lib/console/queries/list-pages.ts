import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type NonUndefinedGuard,
  type Query,
  type QueryKey,
  queryOptions,
} from '@tanstack/react-query'
import { asksAgainInMs } from '../api/failures.ts'

interface ListPages<ListQuery, Page> {
  queryKey: QueryKey
  query: ListQuery
  read: (query: ListQuery, signal: AbortSignal) => Promise<Page>
  rowsOf: (page: Page) => readonly { id: string }[]
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
    if (error) return asksAgainInMs(error)
    return data?.pages.some(goesOn) ? runningMs * data.pages.length : restingMs
  }

const runningMs = 2_000
const restingMs = 30_000

/** The keys that the metadata of listed things has, or the values of one key, to choose filters from. */
export const metadataWords = <Words>(queryKey: QueryKey, read: (signal: AbortSignal) => Promise<Words>) =>
  queryOptions<Words, Error, Words, QueryKey>({ queryKey, queryFn: ({ signal }) => read(signal), staleTime: 60_000 })
