import { queryOptions } from '@tanstack/react-query'
import { ApiError, readError } from '#lib/client/client.ts'
import type { HeldTerminal } from '#lib/contract/terminal-relay.ts'
import { leaveForSignIn } from '../api.ts'
import { asksAgainInMs } from '../failures.ts'

const pauseMs = 15_000

export const terminalQueries = {
  /** The shells of a devbox that the console holds open, for this page or any other. */
  held: (devboxId: string) =>
    queryOptions({
      queryKey: ['terminals', 'held', devboxId],
      queryFn: async ({ signal }): Promise<HeldTerminal[]> => {
        const { terminals } = await read<{ terminals: HeldTerminal[] }>(
          `/api/terminals/${encodeURIComponent(devboxId)}`,
          signal,
          leaveForSignIn,
        )
        return terminals
      },
      refetchInterval: ({ state: { error } }) => asksAgainInMs(error) || pauseMs,
    }),
  /** What a link lets watch, for who is not signed in. Asked once: its terminal tells the rest. */
  followed: (token: string) =>
    queryOptions({
      queryKey: ['terminals', 'followed', token],
      queryFn: ({ signal }) =>
        read<Pick<HeldTerminal, 'name' | 'title'>>(`/api/follow/${encodeURIComponent(token)}`, signal),
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
    }),
}

const read = async <T>(path: string, signal: AbortSignal, signedOut?: () => unknown): Promise<T> => {
  const response = await fetch(path, { signal, cache: 'no-store' }).catch((cause: unknown) => {
    if (signal.aborted) throw cause
    throw new ApiError('unreachable', 0, 'The console itself cannot be reached', { cause })
  })
  if (response.status === 401) signedOut?.()
  if (!response.ok) throw await readError(response)
  return (await response.json()) as T
}
