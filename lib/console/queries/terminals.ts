import { mutationOptions, queryOptions } from '@tanstack/react-query'
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

export const terminalMutations = {
  /** Ends shells of a devbox that the console holds. One that has ended meanwhile is no failure. */
  end: () =>
    mutationOptions({
      mutationKey: ['terminals', 'end'],
      mutationFn: async ({ devboxId, names }: { devboxId: string; names: readonly string[] }) => {
        for (const name of names) {
          const path = `/api/terminals/${encodeURIComponent(devboxId)}/${encodeURIComponent(name)}`
          const response = await reach(path, { method: 'DELETE' })
          if (response.status === 401) void leaveForSignIn()
          if (!response.ok && response.status !== 404) throw await readError(response)
        }
      },
      onSettled: (_answer, _error, { devboxId }, _result, { client }) =>
        void client.invalidateQueries({ queryKey: terminalQueries.held(devboxId).queryKey }),
    }),
}

const read = async <T>(path: string, signal: AbortSignal, signedOut?: () => unknown): Promise<T> => {
  const response = await reach(path, { signal })
  if (response.status === 401) signedOut?.()
  if (!response.ok) throw await readError(response)
  return (await response.json()) as T
}

const reach = (path: string, init: RequestInit): Promise<Response> =>
  fetch(path, { ...init, cache: 'no-store' }).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause
    throw new ApiError('unreachable', 0, 'The console itself cannot be reached', { cause })
  })
