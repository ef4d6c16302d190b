import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { type Described, throwIfChanged } from '#lib/browser/api/edit-conflict.ts'
import { retryDelayMs } from '#lib/browser/api/failures.ts'
import { listPages, listRefresh, metadataWords, type Shown } from '#lib/browser/queries/list/pages.ts'
import type {
  Snapshot,
  SnapshotCreate,
  SnapshotList,
  SnapshotListQuery,
  SnapshotUpdate,
} from '#lib/contract/snapshots.ts'
import { snapshots } from '#lib/contract/snapshots.ts'

const pageApi = browserApi({ snapshots })
type Api = typeof pageApi

const snapshotKeys = {
  all: ['snapshots'] as const,
  lists: ['snapshots', 'list'] as const,
  status: (id: string) => ['snapshots', 'status', id] as const,
}

const pollIntervalMs = 2_000

const snapshotList = (query: SnapshotListQuery, api: Api) => ({
  queryKey: [...snapshotKeys.lists, query],
  query,
  read: (query: SnapshotListQuery, signal: AbortSignal) => api.snapshots.list({ query, signal }),
  rowsOf: ({ snapshots }: SnapshotList) => snapshots,
  withRows: (page: SnapshotList, snapshots: readonly Snapshot[]) => ({ ...page, snapshots: [...snapshots] }),
})

export const snapshotQueries = {
  list: (query: SnapshotListQuery, api: Api = pageApi) => ({
    ...listPages(snapshotList(query, api)),
    refresh: (shown: () => Shown<Snapshot>) => listRefresh(snapshotList(query, api), shown),
  }),

  /** Polls while the snapshot is being taken. */
  status: (id: string) =>
    queryOptions({
      queryKey: snapshotKeys.status(id),
      queryFn: ({ signal }) => pageApi.snapshots.status({ params: { id }, signal }),
      refetchInterval: ({ state: { data, error } }) =>
        error ? retryDelayMs(error) : data?.status === 'in_progress' ? pollIntervalMs : false,
    }),

  metadataKeys: () =>
    metadataWords([...snapshotKeys.all, 'metadata-keys'], (signal) => pageApi.snapshots.metadataKeys({ signal })),
}

/** Each invalidates all snapshot queries. */
export const snapshotMutations = {
  /** Resolves before the copy is complete. */
  create: () =>
    change('create', ({ devboxId, ...body }: SnapshotCreate & { devboxId: string }) =>
      pageApi.snapshots.createAsync({ params: { id: devboxId }, body }),
    ),
  update: (api: Api = pageApi) =>
    /** Rejects with EditConflictError if the snapshot no longer matches `base`. */
    change('update', async ({ id, base, ...body }: SnapshotUpdate & { id: string; base: Described }) => {
      const { snapshot } = await api.snapshots.status({ params: { id } })
      if (snapshot) throwIfChanged(base, snapshot)
      return api.snapshots.update({ params: { id }, body })
    }),
  delete: () => change('delete', (id: string) => pageApi.snapshots.delete({ params: { id } })),
}

const change = <Input, Result>(name: string, call: (input: Input) => Promise<Result>) =>
  mutationOptions({
    mutationKey: [...snapshotKeys.all, name],
    mutationFn: call,
    onSettled: (_result, _error, _input, _context, { client }) =>
      void client.invalidateQueries({ queryKey: snapshotKeys.all }),
  })
