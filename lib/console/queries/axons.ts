import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type MutationFunctionContext,
  mutationOptions,
  type QueryKey,
  queryOptions,
} from '@tanstack/react-query'
import type { Axon, AxonCreate, AxonList, AxonListQuery, AxonPublish, SqlStatement } from '#lib/contract/axons.ts'
import { axons } from '#lib/contract/axons.ts'
import type { StringMap } from '#lib/contract/common.ts'
import { maxPageSize } from '#lib/contract/paging.ts'
import type { AxonFilter } from '../address/axon-view.ts'
import { browserApi } from '../api/browser-api.ts'
import { asksAgainInMs } from '../api/failures.ts'
import { mayChangeTables, tablesKey } from './axon/tables.ts'
import { listPages, metadataWords } from './list/pages.ts'

const pageApi = browserApi({ axons })
type Api = typeof pageApi

const axonKeys = {
  lists: ['axons', 'list'] as const,
  one: (id: string) => ['axons', 'get', id] as const,
  metadata: ['axons', 'metadata'] as const,
  refresh: ['axons', 'refresh'] as const,
}

const rowsKey = (filter: AxonFilter, limit: number | undefined) =>
  [...axonKeys.lists, 'rows', filter, limit ?? null] as const

/** What the server draws a page with: few enough to come at once, more than a screen holds. */
const firstRows = 100
/** What is added when the end of a list too long for one call comes near: a page that is read without a stutter. */
const moreRows = 1000

/** Whether a first page of that many rows is drawn by the server; a longer one would come twice, as markup and as data. */
export const isDrawnByServer = (limit = firstRows): boolean => limit <= moreRows

interface PageParam {
  after: string | undefined
  rows: number
}

/** A page of the list, and when it was read. */
export type AxonRows = AxonList & { read_at_ms: number }

/** How long the rows of the list stand before they are read again, while the page is looked at. */
const refreshMs = 10_000
/** The same where the rows are many: an answer of megabytes. */
const longRefreshMs = 60_000

/** Since when all that is loaded is known to be so. */
export const readSince = (pages: readonly AxonRows[]): number => Math.min(...pages.map(({ read_at_ms }) => read_at_ms))

/** Whether the loaded rows can be read again in one call. */
export const isRefreshed = (pages: readonly AxonRows[]): boolean =>
  pages.reduce((sum, { axons }) => sum + axons.length, 0) <= maxPageSize

/** How many axons the service counted for the list, or null when it did not. */
export const countedIn = (pages: readonly AxonRows[]): number | null =>
  pages.find(({ total_count }) => Number.isFinite(total_count))?.total_count ?? null

/** Whether the rows of a list fit in one call, so that having them all costs no more than having the next. */
export const fitsOneCall = (pages: readonly AxonRows[]): boolean => {
  const counted = countedIn(pages)
  return counted !== null && counted <= maxPageSize
}

type LoadedAxons = InfiniteData<AxonRows, PageParam>

/** One answer cut into the pages that were loaded; what it has more goes into the last. */
const inPagesOf = ({ pages, pageParams }: LoadedAxons, answer: AxonRows): LoadedAxons => {
  const cut: LoadedAxons = { pages: [], pageParams: [] }
  let start = 0
  for (const [at, { axons }] of pages.entries()) {
    const isLast = at === pages.length - 1 || start + axons.length >= answer.axons.length
    const end = isLast ? answer.axons.length : start + axons.length
    cut.pages.push({ ...answer, axons: answer.axons.slice(start, end), has_more: !isLast || answer.has_more })
    const param = pageParams[at]
    if (param) cut.pageParams.push(at === 0 ? param : { ...param, after: answer.axons[start - 1]?.id })
    start = end
    if (isLast) break
  }
  return cut
}

export const axonQueries = {
  /** The pages of a list from `query.starting_after` on. */
  list: (query: AxonListQuery, api: Api = pageApi) =>
    listPages({
      queryKey: [...axonKeys.lists, query],
      query,
      read: (query, signal) => api.axons.list({ query, signal }),
      rowsOf: ({ axons }) => axons,
    }),

  /** The same for the list page: a small page first, then all that is left where one call can bring it. */
  rows: (filter: AxonFilter, limit: number | undefined, api: Api = pageApi) =>
    infiniteQueryOptions<AxonRows, Error, LoadedAxons, QueryKey, PageParam>({
      queryKey: rowsKey(filter, limit),
      queryFn: async ({ pageParam: { after, rows }, signal }) => {
        // Counted once: to count all of them again with each page would be the dearest part of it.
        const include_total_count = filter.include_total_count && after === filter.starting_after
        const query = { ...filter, starting_after: after, limit: rows, include_total_count }
        return { ...(await api.axons.list({ query, signal })), read_at_ms: Date.now() }
      },
      initialPageParam: { after: filter.starting_after, rows: limit ?? firstRows },
      getNextPageParam: ({ has_more, axons }, pages) => {
        const last = axons.at(-1)
        if (!has_more || !last) return undefined
        return { after: last.id, rows: limit ?? (fitsOneCall(pages) ? maxPageSize : moreRows) }
      },
      placeholderData: keepPreviousData,
      // Every loaded page would be asked for again, in turn; `refresh` reads them in one call.
      refetchOnWindowFocus: false,
      refetchOnMount: ({ state }) => (state.data?.pages.length ?? 0) <= 2,
    }),

  /** Reads the loaded rows of that list again and again, all of them in one call, whatever was scrolled. */
  refresh: (filter: AxonFilter, limit: number | undefined, api: Api = pageApi) =>
    queryOptions({
      queryKey: [...axonKeys.refresh, filter, limit ?? null],
      queryFn: async ({ client, signal }): Promise<null> => {
        const key = rowsKey(filter, limit)
        const before = client.getQueryData<LoadedAxons>(key)
        const isBeingRead = client.isFetching({ queryKey: key, exact: true }) > 0
        if (!before || isBeingRead || !isRefreshed(before.pages)) return null
        const loaded = before.pages.reduce((sum, { axons }) => sum + axons.length, 0)
        const restMs = loaded > moreRows ? longRefreshMs : refreshMs
        if (Date.now() - readSince(before.pages) < restMs - refreshMs / 2) return null
        // A list that ends has its new rows added; one that goes on keeps its length.
        const rows = before.pages.at(-1)?.has_more ? loaded : Math.min(maxPageSize, loaded + firstRows)
        const answer = await api.axons.list({ query: { ...filter, limit: Math.max(1, rows) }, signal })
        const read = { ...answer, read_at_ms: Date.now() }
        // What was loaded or written meanwhile is newer than this answer.
        client.setQueryData<LoadedAxons>(key, (now) => (now === before ? inPagesOf(before, read) : now))
        return null
      },
      refetchInterval: ({ state: { error } }) => asksAgainInMs(error) || refreshMs,
      staleTime: 0,
      retry: false,
    }),

  get: (id: string, api: Api = pageApi) =>
    queryOptions({
      queryKey: axonKeys.one(id),
      queryFn: ({ signal }) => api.axons.get({ params: { id }, signal }),
    }),

  /** The newest event of an axon's log, or undefined when it has none. */
  lastEvent: async (id: string, signal: AbortSignal, api: Api = pageApi) =>
    (await api.axons.events({ params: { id }, query: { limit: 1, include_total_count: false }, signal })).events[0],

  metadataKeys: (api: Api = pageApi) =>
    metadataWords([...axonKeys.metadata, 'keys'], (signal) => api.axons.metadataKeys({ signal })),

  metadataValues: (key: string, api: Api = pageApi) =>
    metadataWords([...axonKeys.metadata, 'values', key], (signal) =>
      api.axons.metadataValues({ params: { key }, signal }),
    ),

  /** One event by its sequence, or null when the log has none of it. */
  event: (id: string, sequence: number, api: Api = pageApi) =>
    queryOptions({
      queryKey: [...axonKeys.one(id), 'event', sequence] as const,
      queryFn: async ({ signal }) => {
        const query = { starting_after: sequence + 1, limit: 1, include_total_count: false }
        const { events } = await api.axons.events({ params: { id }, query, signal })
        return events[0]?.sequence === sequence ? events[0] : null
      },
      // An event never changes.
      staleTime: Number.POSITIVE_INFINITY,
    }),
}

/** The answer is the axon; it may have new keys, and stand elsewhere in lists. */
const written = (axon: Axon, _input: unknown, _result: unknown, { client }: MutationFunctionContext) => {
  client.setQueryData(axonKeys.one(axon.id), axon)
  void client.invalidateQueries({ queryKey: axonKeys.metadata })
  return client.invalidateQueries({ queryKey: axonKeys.lists })
}

export const axonMutations = {
  create: (api: Api = pageApi) =>
    mutationOptions({
      mutationKey: ['axons', 'create'],
      mutationFn: (body: AxonCreate) => api.axons.create({ body }),
      onSuccess: written,
    }),

  update: (api: Api = pageApi) =>
    mutationOptions({
      mutationKey: ['axons', 'update'],
      mutationFn: ({ id, metadata }: { id: string; metadata: StringMap }) =>
        api.axons.update({ params: { id }, body: { metadata } }),
      onSuccess: written,
    }),

  /** Nothing to invalidate: the log of the axon tells of the event itself. */
  publish: (api: Api = pageApi) =>
    mutationOptions({
      mutationKey: ['axons', 'publish'],
      mutationFn: ({ id, event }: { id: string; event: AxonPublish }) =>
        api.axons.publish({ params: { id }, body: event }),
    }),

  /** Several statements run in one transaction. */
  run: (api: Api = pageApi) =>
    mutationOptions({
      mutationKey: ['axons', 'run'],
      mutationFn: async ({ id, statements }: { id: string; statements: readonly SqlStatement[] }) => {
        const [only, ...more] = statements
        if (only && more.length === 0)
          return [{ success: await api.axons.query({ params: { id }, body: only }), error: null }]
        return (await api.axons.batch({ params: { id }, body: { statements: [...statements] } })).results
      },
      onSuccess: (_results, { id, statements }, _result, { client }) => {
        if (statements.some(({ sql }) => mayChangeTables(sql)))
          void client.invalidateQueries({ queryKey: tablesKey(id) })
      },
    }),

  delete: (api: Api = pageApi) =>
    mutationOptions({
      mutationKey: ['axons', 'delete'],
      mutationFn: (id: string) => api.axons.delete({ params: { id } }),
      // The record stays and carries its deletion time, which only the service knows.
      onSuccess: (_answer, _id, _result, { client }) => client.invalidateQueries({ queryKey: ['axons'] }),
    }),
}
