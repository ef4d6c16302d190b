import { mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import { fetchConsoleJson, sendToConsole } from '#lib/browser/api/console-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import type { PushSubscriptions } from '#lib/protocol/push.ts'

const listKey = ['alerts', 'push']
const pollMs = 10_000

export const pushQueries = {
  list: () =>
    queryOptions({
      queryKey: listKey,
      queryFn: ({ signal }) => fetchConsoleJson<PushSubscriptions>('/api/alerts/push', signal),
      refetchInterval: pollEvery(pollMs),
    }),
}

const pathOf = (id: string) => `/api/alerts/push/${encodeURIComponent(id)}`

const onSettled = (
  _answer: unknown,
  _error: unknown,
  _input: unknown,
  _result: unknown,
  { client }: { client: QueryClient },
) => client.invalidateQueries({ queryKey: listKey })

export const pushMutations = {
  change: () =>
    mutationOptions({
      mutationFn: ({ id, shows_names }: { id: string; shows_names: boolean }) =>
        sendToConsole('POST', pathOf(id), { shows_names }),
      onSettled,
    }),
  test: () =>
    mutationOptions({
      mutationFn: (id: string) =>
        sendToConsole<{ is_delivered: boolean; answer: string }>('POST', `${pathOf(id)}/test`),
      onSettled,
    }),
  remove: () => mutationOptions({ mutationFn: (id: string) => sendToConsole('DELETE', pathOf(id)), onSettled }),
  removeAll: () => mutationOptions({ mutationFn: () => sendToConsole('DELETE', '/api/alerts/push'), onSettled }),
}
