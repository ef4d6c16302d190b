import { keepPreviousData, mutationOptions, type QueryKey, queryOptions } from '@tanstack/react-query'
import type { PickerPage } from '#components/list/record-picker.tsx'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { pollEvery, retryDelayMs } from '#lib/browser/api/failures.ts'
import { isoTime } from '#lib/browser/format.ts'
import { blueprintMatches } from '#lib/browser/lists/row-filters.ts'
import { listPages, listRefresh, metadataWords, type Shown } from '#lib/browser/queries/list/pages.ts'
import {
  type Blueprint,
  type BlueprintCreate,
  type BlueprintList,
  type BlueprintListQuery,
  blueprints,
  isBuilding,
} from '#lib/contract/blueprints.ts'

const pageApi = browserApi({ blueprints })
type Api = typeof pageApi

const blueprintKeys = {
  all: ['blueprints'] as const,
  lists: ['blueprints', 'list'] as const,
  one: (id: string) => ['blueprints', 'get', id] as const,
}

const buildPollMs = 1_500
/** A log is sent whole each time, so long ones are polled less often. */
const logPollMs = (lines: number) => Math.max(buildPollMs, lines / 10)

const blueprintList = (query: BlueprintListQuery, api: Api) => ({
  queryKey: [...blueprintKeys.lists, query],
  query,
  read: (query: BlueprintListQuery, signal: AbortSignal) => api.blueprints.list({ query, signal }),
  rowsOf: ({ blueprints }: BlueprintList) => blueprints,
  withRows: (page: BlueprintList, blueprints: readonly Blueprint[]) => ({ ...page, blueprints: [...blueprints] }),
  isActive: ({ status }: Blueprint) => isBuilding(status),
})

const choicesPerPage = 100

export const blueprintQueries = {
  list: (query: BlueprintListQuery, api: Api = pageApi) => ({
    ...listPages(blueprintList(query, api)),
    refresh: (shown: () => Shown<Blueprint>) => listRefresh(blueprintList(query, api), shown),
  }),

  get: (id: string) =>
    queryOptions({
      queryKey: blueprintKeys.one(id),
      queryFn: ({ signal }) => pageApi.blueprints.get({ params: { id }, signal }),
      refetchInterval: ({ state: { data, error } }) =>
        error ? retryDelayMs(error) : data && isBuilding(data.status) ? buildPollMs : false,
    }),

  /** Polls during the build. The end of the build changes the key, and so reads the last lines. */
  log: ({ id, status }: Pick<Blueprint, 'id' | 'status'>) => {
    const isPolled = isBuilding(status)
    return queryOptions({
      queryKey: [...blueprintKeys.all, 'log', id, isPolled] as const,
      queryFn: async ({ signal }) => (await pageApi.blueprints.logs({ params: { id }, signal })).logs,
      placeholderData: keepPreviousData,
      structuralSharing: false,
      refetchInterval: ({ state }) => (isPolled ? pollEvery(logPollMs(state.data?.length ?? 0))({ state }) : false),
    })
  },

  /** Blueprints to choose from: those that are ready, the newest of each name. */
  choices: (search: string, api: Api = pageApi) =>
    queryOptions<PickerPage, Error, PickerPage, QueryKey>({
      queryKey: [...blueprintKeys.all, 'choices', search],
      queryFn: async ({ signal }) => {
        const query = { status: 'build_complete', limit: choicesPerPage, ...(search && { search }) } as const
        const { blueprints, has_more } = await api.blueprints.list({ query, signal })
        const rows = newestOfEachName(blueprints.filter(blueprintMatches(query)))
        return {
          rows: rows.map(({ id, name, create_time_ms }) => ({
            id,
            name,
            detail: isoTime(create_time_ms)?.slice(0, 10) ?? '',
          })),
          total: null,
          hasMore: has_more,
        }
      },
      placeholderData: keepPreviousData,
    }),

  metadataKeys: () =>
    metadataWords([...blueprintKeys.all, 'metadata-keys'], (signal) => pageApi.blueprints.metadataKeys({ signal })),
}

const newestOfEachName = (all: readonly Blueprint[]): Blueprint[] => {
  const newest = new Map<string, Blueprint>()
  for (const blueprint of all) {
    const { name, create_time_ms, state } = blueprint
    if (state !== 'deleted' && create_time_ms > (newest.get(name)?.create_time_ms ?? -1)) newest.set(name, blueprint)
  }
  return [...newest.values()].sort((one, other) => other.create_time_ms - one.create_time_ms)
}

export const blueprintMutations = {
  create: () =>
    mutationOptions({
      mutationKey: [...blueprintKeys.all, 'create'],
      mutationFn: (body: BlueprintCreate) => pageApi.blueprints.create({ body }),
      onSuccess: (blueprint, _body, _result, { client }) => {
        client.setQueryData(blueprintKeys.one(blueprint.id), blueprint)
        void client.invalidateQueries({ queryKey: blueprintKeys.lists })
      },
    }),

  preview: () =>
    mutationOptions({
      mutationKey: [...blueprintKeys.all, 'preview'],
      mutationFn: (body: BlueprintCreate) => pageApi.blueprints.preview({ body }),
    }),

  delete: () =>
    mutationOptions({
      mutationKey: [...blueprintKeys.all, 'delete'],
      mutationFn: (id: string) => pageApi.blueprints.delete({ params: { id } }),
      onSettled: (_result, _error, _id, _context, { client }) =>
        void client.invalidateQueries({ queryKey: blueprintKeys.lists }),
    }),
}
