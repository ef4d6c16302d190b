import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { fetchConsole, fetchConsoleJson, fetchWithSession } from '#lib/browser/api/console-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import { ApiError } from '#lib/client/api-error.ts'
import type { HeldTerminal } from '#lib/protocol/terminals.ts'

const pauseMs = 15_000

export const terminalQueries = {
  /** Shells of a devbox that the console keeps open, for any page. */
  held: (devboxId: string) =>
    queryOptions({
      queryKey: ['terminals', 'held', devboxId],
      queryFn: async ({ signal }) => {
        const path = `/api/terminals/${encodeURIComponent(devboxId)}`
        return (await fetchConsoleJson<{ terminals: HeldTerminal[] }>(path, signal)).terminals
      },
      refetchInterval: pollEvery(pauseMs),
    }),
  /** The terminal behind a read-only link. Queried once; the terminal reports changes. */
  followed: (token: string) =>
    queryOptions({
      queryKey: ['terminals', 'followed', token],
      queryFn: async ({ signal }): Promise<Pick<HeldTerminal, 'name' | 'title'>> =>
        (await fetchConsole(`/api/follow/${encodeURIComponent(token)}`, { signal })).json(),
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
    }),
}

export const terminalMutations = {
  /** Ends shells. Shells that have already ended are not an error. */
  end: () =>
    mutationOptions({
      mutationKey: ['terminals', 'end'],
      mutationFn: async ({ devboxId, names }: { devboxId: string; names: readonly string[] }) => {
        for (const name of names) {
          const path = `/api/terminals/${encodeURIComponent(devboxId)}/${encodeURIComponent(name)}`
          await fetchWithSession(path, { method: 'DELETE' }).catch((error: unknown) => {
            if (!(error instanceof ApiError && error.status === 404)) throw error
          })
        }
      },
      onSettled: (_answer, _error, { devboxId }, _result, { client }) =>
        void client.invalidateQueries({ queryKey: terminalQueries.held(devboxId).queryKey }),
    }),
}
