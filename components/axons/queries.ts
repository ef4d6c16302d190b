import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type MutationFunctionContext,
  mutationOptions,
  type QueryKey,
  queryOptions,
} from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { listPages, listRefresh, metadataWords, type Shown } from '#lib/browser/queries/list/pages.ts'
import type { Axon, AxonCreate, AxonList, AxonListQuery, AxonPublish, SqlStatement } from '#lib/contract/axons.ts'
import { axons } from '#lib/contract/axons.ts'
import type { StringMap } from '#lib/contract/common.ts'
import { maxPageSize } from '#lib/contract/page-sizes.ts'
import { mayChangeTables, tablesKey } from './sql-queries.ts'

/** First page, rendered by the server: more rows than a screen shows. */
const firstRows = 100
/** Later pages of lists that are too long for one request. */
const moreRows = 1000

/** Longer first pages would be sent twice, as markup and as data. */
export const isDrawnByServer = (limit = firstRows): boolean => limit <= moreRows

interface PageParam {
  after: string | undefined
  rows: number
}

/** Total number of axons in the list, or null if the service did not count them. */
export const countedIn = (pages: readonly AxonList[]): number | null =>
  pages.find(({ total_count }) => Number.isFinite(total_count))?.total_count ?? null

/** Whether one request can fetch the whole list. */
export const fitsOneCall = (pages: readonly AxonList[]): boolean => {
  const counted = countedIn(pages)
  return counted !== null && counted <= maxPageSize
}

const pageApi = browserApi({ axons })
type Api = typeof pageApi

const axonKeys = {
  lists: ['axons', 'list'] as const,
  one: (id: string) => ['axons', 'get', id] as const,
  metadata: ['axons', 'metadata'] as const,
}

type AxonFilter = Omit<AxonListQuery, 'limit'>

const rowsKey = (filter: AxonFilter, limit: number | undefined) =>
  [...axonKeys.lists, 'rows', filter, limit ?? null] as const

/** The long interval is for lists of megabytes. */
const refreshMs = 10_000
const longRefreshMs = 60_000

export const axonQueries = {
  /** The pages of a list from `query.starting_after` on. */
  list: (query: AxonListQuery, api: Api = pageApi) =>
    listPages({
      queryKey: [...axonKeys.lists, query],
      query,
      read: (query, signal) => api.axons.list({ query, signal }),
      rowsOf: ({ axons }) => axons,
    }),

  /** For the list page: a small page first, then all rows if one call can return them. Polls all loaded rows if so. */
  rows: (filter: AxonFilter, limit: number | undefined, api: Api = pageApi) => ({
    ...infiniteQueryOptions<AxonList, Error, InfiniteData<AxonList, PageParam>, QueryKey, PageParam>({
      queryKey: rowsKey(filter, limit),
      queryFn: ({ pageParam: { after, rows }, signal }) => {
        // Counting is the slowest part, so only the first page is counted.
        const include_total_count = filter.include_total_count && after === filter.starting_after
        return api.axons.list({ query: { ...filter, starting_after: after, limit: rows, include_total_count }, signal })
      },
      initialPageParam: { after: filter.starting_after, rows: limit ?? firstRows },
      getNextPageParam: ({ has_more, axons }, pages) => {
        const last = axons.at(-1)
        if (!has_more || !last) return undefined
        return { after: last.id, rows: limit ?? (fitsOneCall(pages) ? maxPageSize : moreRows) }
      },
      placeholderData: keepPreviousData,
    }),
    rowsOf: ({ axons }: AxonList) => axons,
    refresh: (shown: () => Shown<Axon>) =>
      listRefresh(
        {
          queryKey: rowsKey(filter, limit),
          query: { ...filter, limit: limit ?? firstRows },
          read: (query: AxonListQuery, signal) => api.axons.list({ query, signal }),
          rowsOf: ({ axons }: AxonList) => axons,
          withRows: (page, axons) => ({ ...page, axons: [...axons] }),
          isWhole: true,
          idleMs: (loaded) => (loaded > moreRows ? longRefreshMs : refreshMs),
        },
        shown,
      ),
  }),

  get: (id: string) =>
    queryOptions({
      queryKey: axonKeys.one(id),
      queryFn: ({ signal }) => pageApi.axons.get({ params: { id }, signal }),
    }),

  /** The newest event, if any. */
  lastEvent: async (id: string, signal: AbortSignal, api: Api = pageApi) =>
    (await api.axons.events({ params: { id }, query: { limit: 1, include_total_count: false }, signal })).events[0],

  metadataKeys: () => metadataWords([...axonKeys.metadata, 'keys'], (signal) => pageApi.axons.metadataKeys({ signal })),

  metadataValues: (key: string) =>
    metadataWords([...axonKeys.metadata, 'values', key], (signal) =>
      pageApi.axons.metadataValues({ params: { key }, signal }),
    ),

  /** The event with this sequence, or null. */
  event: (id: string, sequence: number) =>
    queryOptions({
      queryKey: [...axonKeys.one(id), 'event', sequence] as const,
      queryFn: async ({ signal }) => {
        const query = { starting_after: sequence + 1, limit: 1, include_total_count: false }
        const { events } = await pageApi.axons.events({ params: { id }, query, signal })
        return events[0]?.sequence === sequence ? events[0] : null
      },
      // Events never change.
      staleTime: Number.POSITIVE_INFINITY,
    }),
}

const onWritten = (axon: Axon, _input: unknown, _result: unknown, { client }: MutationFunctionContext) => {
  client.setQueryData(axonKeys.one(axon.id), axon)
  void client.invalidateQueries({ queryKey: axonKeys.metadata })
  return client.invalidateQueries({ queryKey: axonKeys.lists })
}

export const axonMutations = {
  create: () =>
    mutationOptions({
      mutationKey: ['axons', 'create'],
      mutationFn: (body: AxonCreate) => pageApi.axons.create({ body }),
      onSuccess: onWritten,
    }),

  update: () =>
    mutationOptions({
      mutationKey: ['axons', 'update'],
      mutationFn: ({ id, metadata }: { id: string; metadata: StringMap }) =>
        pageApi.axons.update({ params: { id }, body: { metadata } }),
      onSuccess: onWritten,
    }),

  /** Invalidates nothing: the live log delivers the event. */
  publish: () =>
    mutationOptions({
      mutationKey: ['axons', 'publish'],
      mutationFn: ({ id, event }: { id: string; event: AxonPublish }) =>
        pageApi.axons.publish({ params: { id }, body: event }),
    }),

  /** Several statements run in one transaction. */
  run: () =>
    mutationOptions({
      mutationKey: ['axons', 'run'],
      mutationFn: async ({ id, statements }: { id: string; statements: readonly SqlStatement[] }) => {
        const [only, ...more] = statements
        if (only && more.length === 0)
          return [{ success: await pageApi.axons.query({ params: { id }, body: only }), error: null }]
        return (await pageApi.axons.batch({ params: { id }, body: { statements: [...statements] } })).results
      },
      onSuccess: (_results, { id, statements }, _result, { client }) => {
        if (statements.some(({ sql }) => mayChangeTables(sql)))
          void client.invalidateQueries({ queryKey: tablesKey(id) })
      },
    }),

  delete: () =>
    mutationOptions({
      mutationKey: ['axons', 'delete'],
      mutationFn: (id: string) => pageApi.axons.delete({ params: { id } }),
      // Only the service knows the deletion time.
      onSuccess: (_answer, _id, _result, { client }) => client.invalidateQueries({ queryKey: ['axons'] }),
    }),
}
