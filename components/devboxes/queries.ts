import { type MutationFunctionContext, mutationOptions, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { type Described, throwIfChanged } from '#lib/browser/api/edit-conflict.ts'
import { isMissing, retryDelayMs } from '#lib/browser/api/failures.ts'
import { devboxMatches } from '#lib/browser/lists/devbox-matches.ts'
import { listPages, listRefresh, metadataWords, type Shown } from '#lib/browser/queries/list/pages.ts'
import { ApiError } from '#lib/client/api-error.ts'
import {
  type Devbox,
  type DevboxCreate,
  type DevboxList,
  type DevboxListQuery,
  type DevboxUpdate,
  devboxes,
  devboxStatuses,
  hasEnded,
  keepsDisk,
} from '#lib/contract/devboxes.ts'
import { noteKeptAlive } from './kept-alive.ts'
import { devboxKeys } from './query-keys.ts'

const pageApi = browserApi({ devboxes })
type Api = typeof pageApi
type DevboxListRequest = NonNullable<Parameters<Api['devboxes']['list']>[0]>['query'] & object

const idleIntervalMs = 15_000
const movingIntervalMs = 2_000
const waitSeconds = 20
const laterPageSize = 100

/** In transition between states, so polled often. */
export const isMoving = ({ status }: Devbox) => status !== 'running' && status !== 'suspended' && !hasEnded(status)

/** Retries sooner during an outage; stops once the devbox is missing. */
const intervalAfter = (error: unknown, ms: number | false) => (isMissing(error) ? false : retryDelayMs(error) || ms)

/** Retries without `origin` for a service that rejects it; pages then filter the rows. */
export const listDevboxes = async (
  api: Pick<Api, 'devboxes'>,
  query: DevboxListRequest,
  signal: AbortSignal,
): Promise<DevboxList> => {
  try {
    return await api.devboxes.list({ query, signal })
  } catch (error) {
    if (query.origin === undefined || !(error instanceof ApiError) || error.status !== 400) throw error
    return api.devboxes.list({ query: { ...query, origin: undefined }, signal })
  }
}

const devboxList = (query: DevboxListQuery, api: Api) => ({
  queryKey: [...devboxKeys.lists, query],
  query,
  read: (query: DevboxListQuery, signal: AbortSignal) => listDevboxes(api, query, signal),
  rowsOf: ({ devboxes }: DevboxList) => devboxes,
  withRows: (page: DevboxList, devboxes: readonly Devbox[]) => ({ ...page, devboxes: [...devboxes] }),
  isActive: isMoving,
  idleMs: () => idleIntervalMs,
})

export const devboxQueries = {
  list: (query: DevboxListQuery, api: Api = pageApi) => ({
    ...listPages({
      ...devboxList(query, api),
      // Larger later pages: if the service ignores a filter, the first match may be hundreds of rows down.
      read: (each, signal) =>
        listDevboxes(
          api,
          each.starting_after === query.starting_after ? each : { ...each, limit: laterPageSize },
          signal,
        ),
      refetchInterval: ({ state }) => {
        const hasMoving = state.data?.pages.some(({ devboxes }) => devboxes.some(isMoving))
        return intervalAfter(state.error, hasMoving ? movingIntervalMs : idleIntervalMs)
      },
    }),
    refresh: (shown: () => Shown<Devbox>) => listRefresh(devboxList(query, api), shown),
  }),

  /** Number of matching trial devboxes; null if the service can't count them separately. */
  trialCount: ({ starting_after: _after, ...query }: DevboxListQuery, api: Api = pageApi) =>
    queryOptions({
      queryKey: [...devboxKeys.lists, 'trial-count', query],
      queryFn: async ({ signal }): Promise<number | null> => {
        const trials = { ...query, origin: 'trial', limit: 1, include_total_count: true } as const
        const { devboxes, total_count } = await listDevboxes(api, trials, signal)
        return devboxes.every(devboxMatches(trials)) ? (total_count ?? null) : null
      },
      refetchInterval: ({ state }) => intervalAfter(state.error, 2 * idleIntervalMs),
    }),

  get: (id: string) =>
    queryOptions({
      queryKey: devboxKeys.one(id),
      queryFn: ({ signal }) => pageApi.devboxes.get({ params: { id }, signal }),
      refetchInterval: ({ state: { data, error } }) =>
        intervalAfter(error, !data ? idleIntervalMs : keepsDisk(data) ? idleIntervalMs / 3 : false),
    }),

  /** For the frame. Cached apart from `get`, whose entry a devbox page hydrates from the server. */
  name: (id: string) =>
    queryOptions({
      queryKey: [...devboxKeys.all, 'name', id] as const,
      queryFn: async ({ signal }) => (await pageApi.devboxes.get({ params: { id }, signal })).name ?? null,
      staleTime: 60_000,
      refetchInterval: false,
    }),

  /** Waits until the devbox has left `status`, then caches it. */
  next: (id: string, status: string, api: Api = pageApi) =>
    queryOptions({
      queryKey: [...devboxKeys.all, 'next', id, status] as const,
      queryFn: async ({ signal, client }) => {
        const statuses = devboxStatuses.filter((each) => each !== status)
        const body = { statuses, timeout_seconds: waitSeconds }
        const devbox = await api.devboxes.waitForStatus({ params: { id }, body, signal })
        client.setQueryData(devboxKeys.one(id), devbox)
        return devbox.status
      },
      // Only a timeout is retried; the page polls anyway.
      retry: (_count, error) => error instanceof ApiError && error.code === 'timeout',
      retryDelay: 250,
      refetchInterval: false,
      staleTime: 0,
      gcTime: 0,
    }),

  usage: (id: string, isFinal: boolean) =>
    queryOptions({
      queryKey: [...devboxKeys.all, 'usage', id, isFinal] as const,
      queryFn: ({ signal }) => pageApi.devboxes.usage({ params: { id }, signal }),
      refetchInterval: ({ state: { error } }) => intervalAfter(error, isFinal ? false : 2 * idleIntervalMs),
    }),

  metadataKeys: () =>
    metadataWords([...devboxKeys.all, 'metadata-keys'], (signal) => pageApi.devboxes.metadataKeys({ signal })),
}

const afterWrite = (devbox: Devbox, _input: unknown, _result: unknown, { client }: MutationFunctionContext) => {
  client.setQueryData(devboxKeys.one(devbox.id), devbox)
  void client.invalidateQueries({ queryKey: devboxKeys.lists })
  void client.invalidateQueries({ queryKey: devboxQueries.metadataKeys().queryKey })
}

/** Each caches the returned devbox and invalidates the lists. */
export const devboxMutations = {
  create: () =>
    mutationOptions({
      mutationKey: [...devboxKeys.all, 'create'],
      mutationFn: (body: DevboxCreate) => pageApi.devboxes.create({ body }),
      onSuccess: afterWrite,
    }),

  update: (api: Api = pageApi) =>
    mutationOptions({
      mutationKey: [...devboxKeys.all, 'update'],
      /** Rejects with EditConflictError if the devbox no longer matches `base`. */
      mutationFn: async ({ id, base, change }: { id: string; base: Described; change: DevboxUpdate }) => {
        throwIfChanged(base, await api.devboxes.get({ params: { id } }))
        return api.devboxes.update({ params: { id }, body: change })
      },
      onSuccess: afterWrite,
    }),

  suspend: () => transition('suspend', (id) => pageApi.devboxes.suspend({ params: { id } })),
  resume: () => transition('resume', (id) => pageApi.devboxes.resume({ params: { id } })),
  shutdown: () => transition('shutdown', (id) => pageApi.devboxes.shutdown({ params: { id } })),

  keepAlive: () =>
    mutationOptions({
      mutationKey: [...devboxKeys.all, 'keep-alive'],
      mutationFn: (id: string) => pageApi.devboxes.keepAlive({ params: { id } }),
      onSuccess: (_result, id, _context, { client }) => {
        noteKeptAlive(id)
        void client.invalidateQueries({ queryKey: devboxKeys.one(id) })
      },
    }),
}

const transition = (name: string, call: (id: string) => Promise<Devbox>) =>
  mutationOptions({
    mutationKey: [...devboxKeys.all, name],
    mutationFn: call,
    onSuccess: (devbox, id, _result, { client }) => {
      client.setQueryData(devboxKeys.one(id), devbox)
      void client.invalidateQueries({ queryKey: devboxKeys.lists })
    },
    // A failure usually means that the page is out of date.
    onError: (_error, _id, _result, { client }) => void client.invalidateQueries({ queryKey: devboxKeys.all }),
  })
