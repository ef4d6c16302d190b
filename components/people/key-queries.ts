import { mutationOptions } from '@tanstack/react-query'
import { fetchConsoleJson, sendToConsole } from '#lib/browser/api/console-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import { listPages } from '#lib/browser/queries/list/pages.ts'
import type { CreatedPersonalKey, PersonalKeyList } from '#lib/protocol/personal-keys.ts'
import type { Role } from '#lib/protocol/roles.ts'

const listKey = ['personal-keys'] as const
const pollMs = 30_000

export const personalKeyQueries = {
  list: () =>
    listPages({
      queryKey: listKey,
      query: {},
      read: async (_query, signal) => {
        const { keys } = await fetchConsoleJson<PersonalKeyList>('/api/personal-keys', signal)
        return { keys, has_more: false, total_count: keys.length }
      },
      rowsOf: ({ keys }) => keys,
      refetchInterval: pollEvery(pollMs),
    }),
}

export interface NewPersonalKey {
  name: string
  role: Role
  /** Null: never. */
  expires_days: number | null
}

export const personalKeyMutations = {
  create: () =>
    mutationOptions({
      mutationFn: (key: NewPersonalKey) => sendToConsole<CreatedPersonalKey>('POST', '/api/personal-keys', key),
      onSuccess: (_created, _key, _result, { client }) => client.invalidateQueries({ queryKey: listKey }),
      // The key must not stay in memory.
      gcTime: 0,
    }),
  revoke: () =>
    mutationOptions({
      mutationFn: (id: string) => sendToConsole('DELETE', `/api/personal-keys/${encodeURIComponent(id)}`),
      onSettled: (_answer, _error, _id, _result, { client }) => client.invalidateQueries({ queryKey: listKey }),
    }),
}
