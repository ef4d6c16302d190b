import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { fetchConsoleJson, fetchWithSession } from '#lib/browser/api/console-api.ts'
import { listPages } from '#lib/browser/queries/list/pages.ts'
import type { Recording, RecordingList } from '#lib/protocol/recordings.ts'

const recordingKeys = {
  all: ['recordings'] as const,
  list: ['recordings', 'list'] as const,
  one: (id: string) => ['recordings', 'one', id] as const,
}

export const recordingAddress = (id?: string) =>
  `/api/recordings${id === undefined ? '' : `/${encodeURIComponent(id)}`}`

// xterm queues up to 50 MB.
export const maxPlayedBytes = 40 * 1024 * 1024
const liveMs = 2_000

export const recordingQueries = {
  list: () =>
    listPages({
      queryKey: recordingKeys.list,
      query: {},
      read: async (_query, signal): Promise<RecordingList & { has_more: boolean; total_count: number }> => {
        const { recordings } = await fetchConsoleJson<RecordingList>(recordingAddress(), signal)
        return { recordings, has_more: false, total_count: recordings.length }
      },
      rowsOf: ({ recordings }) => recordings,
      refetchInterval: ({ state: { data } }) =>
        data?.pages.some(({ recordings }) => recordings.some(({ live }) => live)) ? liveMs : false,
    }),
  get: (id: string) =>
    queryOptions({
      queryKey: recordingKeys.one(id),
      queryFn: ({ signal }) => fetchConsoleJson<Recording>(`${recordingAddress(id)}?view=summary`, signal),
    }),
  /** The whole file, fetched once: a live recording plays up to this point. */
  file: (id: string) =>
    queryOptions({
      queryKey: [...recordingKeys.one(id), 'file'],
      queryFn: async ({ signal }): Promise<string> => (await fetchWithSession(recordingAddress(id), { signal })).text(),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
    }),
}

export const recordingMutations = {
  delete: () =>
    mutationOptions({
      mutationFn: (id: string) => fetchWithSession(recordingAddress(id), { method: 'DELETE' }),
      onSettled: (_answer, _error, _id, _result, { client }) =>
        void client.invalidateQueries({ queryKey: recordingKeys.all }),
    }),
}
