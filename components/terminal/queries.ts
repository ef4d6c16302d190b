import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { askConsole, askConsoleSignedIn, readConsole } from '#lib/browser/api/ask-console.ts'
import { askingEvery } from '#lib/browser/api/failures.ts'
import { ApiError } from '#lib/client/api-error.ts'
import type { HeldTerminal } from '#lib/protocol/terminals.ts'

const pauseMs = 15_000

export const terminalQueries = {
  /** The shells of a devbox that the console holds open, for this page or any other. */
  held: (devboxId: string) =>
    queryOptions({
      queryKey: ['terminals', 'held', devboxId],
      queryFn: async ({ signal }) => {
        const path = `/api/terminals/${encodeURIComponent(devboxId)}`
        return (await readConsole<{ terminals: HeldTerminal[] }>(path, signal)).terminals
      },
      refetchInterval: askingEvery(pauseMs),
    }),
  /** What a link lets a visitor watch without signing in. Asked once: its terminal tells the rest. */
  followed: (token: string) =>
    queryOptions({
      queryKey: ['terminals', 'followed', token],
      queryFn: async ({ signal }): Promise<Pick<HeldTerminal, 'name' | 'title'>> =>
        (await askConsole(`/api/follow/${encodeURIComponent(token)}`, { signal })).json(),
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
    }),
}

export const terminalMutations = {
  /** Ends shells of a devbox that the console holds. One that has ended meanwhile is no failure. */
  end: () =>
    mutationOptions({
      mutationKey: ['terminals', 'end'],
      mutationFn: async ({ devboxId, names }: { devboxId: string; names: readonly string[] }) => {
        for (const name of names) {
          const path = `/api/terminals/${encodeURIComponent(devboxId)}/${encodeURIComponent(name)}`
          await askConsoleSignedIn(path, { method: 'DELETE' }).catch((error: unknown) => {
            if (!(error instanceof ApiError && error.status === 404)) throw error
          })
        }
      },
      onSettled: (_answer, _error, { devboxId }, _result, { client }) =>
        void client.invalidateQueries({ queryKey: terminalQueries.held(devboxId).queryKey }),
    }),
}
