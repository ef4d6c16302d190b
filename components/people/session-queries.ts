import { mutationOptions } from '@tanstack/react-query'
import { fetchConsoleJson, sendToConsole } from '#lib/browser/api/console-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import { listPages } from '#lib/browser/queries/list/pages.ts'
import type { SessionList } from '#lib/protocol/sessions.ts'

const listKey = ['signed-in-sessions'] as const
const pollMs = 30_000

export const signedInQueries = {
  list: () =>
    listPages({
      queryKey: listKey,
      query: {},
      read: async (_query, signal): Promise<SessionList & { has_more: boolean }> => ({
        ...(await fetchConsoleJson<SessionList>('/api/sessions', signal)),
        has_more: false,
      }),
      rowsOf: ({ sessions }) => sessions,
      refetchInterval: pollEvery(pollMs),
    }),
}

export const signedInMutations = {
  end: () => change((id: string) => sendToConsole('DELETE', `/api/sessions/${encodeURIComponent(id)}`)),
  endOthers: () => change((_: undefined) => sendToConsole('DELETE', '/api/sessions')),
}

const change = <Input>(send: (input: Input) => Promise<unknown>) =>
  mutationOptions({
    mutationFn: send,
    onSettled: (_result, _error, _input, _context, { client }) => client.invalidateQueries({ queryKey: listKey }),
  })
