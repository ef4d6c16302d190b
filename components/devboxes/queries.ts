import { type MutationFunctionContext, mutationOptions, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { type Described, throwIfChanged } from '#lib/browser/api/edit-conflict.ts'
import { isMissing, retryDelayMs } from '#lib/browser/api/failures.ts'
import { devboxMatches } from '#lib/browser/lists/row-filters.ts'
import { devboxKeys } from '#lib/browser/queries/devbox-keys.ts'
import { listPages, listRefresh, metadataWords, type Shown } from '#lib/browser/queries/list/pages.ts'
import { ApiError } from '#lib/client/api-error.ts'
import {
  type Devbox,
  type DevboxCreate,
  type DevboxList as DevboxListAnswer,
  type DevboxListQuery,
  type DevboxUpdate,
  devboxes,
  devboxStatuses,
  hasEnded,
  keepsDisk,
} from '#lib/contract/devboxes.ts'

const pageApi = browserApi({ devboxes })
type Api = typeof pageApi
type DevboxListRequest = NonNullable<Parameters<Api['devboxes']['list']>[0]>['query'] & object

const restingMs = 15_000
const movingMs = 2_000
const heldSeconds = 20
const laterPageSize = 100
/** On its way from one state to another, so that the next look is worth taking soon. */
export const isMoving = ({ status }: Devbox) => status !== 'running' && status !== 'suspended' && !hasEnded(status)

/** How long until the next look: soon while the service is away, never once asking again cannot help. */
const pace = (error: unknown, ms: number | false) => (isMissing(error) ? false : retryDelayMs(error) || ms)

/** A service that refuses the `origin` filter returns devboxes of both origins; pages filter them. */
export const listDevboxes = async (
  api: Pick<Api, 'devboxes'>,
  query: DevboxListRequest,
  signal: AbortSignal,
): Promise<DevboxListAnswer> => {
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
  rowsOf: ({ devboxes }: DevboxListAnswer) => devboxes,
  withRows: (page: DevboxListAnswer, devboxes: readonly Devbox[]) => ({ ...page, devboxes: [...devboxes] }),
  goesOn: isMoving,
  restsMs: () => restingMs,
})

export const devboxQueries = {
  /** The pages of a list from `query.starting_after` on. */
  list: (query: DevboxListQuery, api: Api = pageApi) =>
    listPages({
      ...devboxList(query, api),
      // Where the service ignores a filter, hundreds of rows may come before the first that matches.
      read: (each, signal) =>
        listDevboxes(
          api,
          each.starting_after === query.starting_after ? each : { ...each, limit: laterPageSize },
          signal,
        ),
      refetchInterval: ({ state }) => {
        const isSoon = state.data?.pages.some(({ devboxes }) => devboxes.some(isMoving))
        return pace(state.error, isSoon ? movingMs : restingMs)
      },
    }),

  /** How many trial devboxes match the filters of a list of own ones; null where the service doesn't count them apart. */
  trialCount: ({ starting_after: _after, ...query }: DevboxListQuery, api: Api = pageApi) =>
    queryOptions({
      queryKey: [...devboxKeys.lists, 'trial-count', query],
      queryFn: async ({ signal }): Promise<number | null> => {
        const trials = { ...query, origin: 'trial', limit: 1, include_total_count: true } as const
        const { devboxes, total_count } = await listDevboxes(api, trials, signal)
        return devboxes.every(devboxMatches(trials)) ? (total_count ?? null) : null
      },
      refetchInterval: ({ state }) => pace(state.error, 2 * restingMs),
    }),

  refresh: (query: DevboxListQuery, shown: () => Shown<Devbox>, api: Api = pageApi) =>
    listRefresh(devboxList(query, api), shown),

  get: (id: string) =>
    queryOptions({
      queryKey: devboxKeys.one(id),
      queryFn: ({ signal }) => pageApi.devboxes.get({ params: { id }, signal }),
      refetchInterval: ({ state: { data, error } }) =>
        pace(error, !data ? restingMs : keepsDisk(data) ? restingMs / 3 : false),
    }),

  /**
   * For the frame, which lives before any page does. An entry of its own: a devbox's page brings its data along from the
   * server, and must not find the same entry half fetched while it takes over what the server drew.
   */
  name: (id: string) =>
    queryOptions({
      queryKey: [...devboxKeys.all, 'name', id] as const,
      queryFn: async ({ signal }) => (await pageApi.devboxes.get({ params: { id }, signal })).name ?? null,
      staleTime: 60_000,
      refetchInterval: false,
    }),

  /** Asked for while the devbox leaves `status`: the call is held until it has, and what it is then is put in the cache. */
  next: (id: string, status: string, api: Api = pageApi) =>
    queryOptions({
      queryKey: [...devboxKeys.all, 'next', id, status] as const,
      queryFn: async ({ signal, client }) => {
        const statuses = devboxStatuses.filter((each) => each !== status)
        const body = { statuses, timeout_seconds: heldSeconds }
        const devbox = await api.devboxes.waitForStatus({ params: { id }, body, signal })
        client.setQueryData(devboxKeys.one(id), devbox)
        return devbox.status
      },
      // The time is over: ask again at once. After anything else the page's own looks go on.
      retry: (_count, error) => error instanceof ApiError && error.code === 'timeout',
      retryDelay: 250,
      refetchInterval: false,
      staleTime: 0,
      gcTime: 0,
    }),

  /** What it has used so far. */
  usage: (id: string, isFinal: boolean) =>
    queryOptions({
      queryKey: [...devboxKeys.all, 'usage', id, isFinal] as const,
      queryFn: ({ signal }) => pageApi.devboxes.usage({ params: { id }, signal }),
      refetchInterval: ({ state: { error } }) => pace(error, isFinal ? false : 2 * restingMs),
    }),

  metadataKeys: () =>
    metadataWords([...devboxKeys.all, 'metadata-keys'], (signal) => pageApi.devboxes.metadataKeys({ signal })),
}

/** The answer is the devbox; it may have new keys, and stand elsewhere in lists. */
const written = (devbox: Devbox, _input: unknown, _result: unknown, { client }: MutationFunctionContext) => {
  client.setQueryData(devboxKeys.one(devbox.id), devbox)
  void client.invalidateQueries({ queryKey: devboxKeys.lists })
  void client.invalidateQueries({ queryKey: devboxQueries.metadataKeys().queryKey })
}

/** Each puts its answer in the cache as the devbox and makes the lists ask again. */
export const devboxMutations = {
  create: () =>
    mutationOptions({
      mutationKey: [...devboxKeys.all, 'create'],
      mutationFn: (body: DevboxCreate) => pageApi.devboxes.create({ body }),
      onSuccess: written,
    }),

  update: (api: Api = pageApi) =>
    mutationOptions({
      mutationKey: [...devboxKeys.all, 'update'],
      /** Rejects with `EditConflictError` when the devbox is not described as in `base` any more. */
      mutationFn: async ({ id, base, change }: { id: string; base: Described; change: DevboxUpdate }) => {
        throwIfChanged(base, await api.devboxes.get({ params: { id } }))
        return api.devboxes.update({ params: { id }, body: change })
      },
      onSuccess: written,
    }),

  suspend: () => move('suspend', (id) => pageApi.devboxes.suspend({ params: { id } })),
  resume: () => move('resume', (id) => pageApi.devboxes.resume({ params: { id } })),
  shutdown: () => move('shutdown', (id) => pageApi.devboxes.shutdown({ params: { id } })),

  keepAlive: () =>
    mutationOptions({
      mutationKey: [...devboxKeys.all, 'keep-alive'],
      mutationFn: (id: string) => pageApi.devboxes.keepAlive({ params: { id } }),
      onSuccess: (_answer, id, _result, { client }) => void client.invalidateQueries({ queryKey: devboxKeys.one(id) }),
    }),
}

const move = (name: string, call: (id: string) => Promise<Devbox>) =>
  mutationOptions({
    mutationKey: [...devboxKeys.all, name],
    mutationFn: call,
    onSuccess: (devbox, id, _result, { client }) => {
      client.setQueryData(devboxKeys.one(id), devbox)
      void client.invalidateQueries({ queryKey: devboxKeys.lists })
    },
    // A refusal mostly means that what the page shows is old.
    onError: (_error, _id, _result, { client }) => void client.invalidateQueries({ queryKey: devboxKeys.all }),
  })
