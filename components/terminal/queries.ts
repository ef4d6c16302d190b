import { queryOptions } from '@tanstack/react-query'
import { fetchConsole, fetchConsoleJson } from '#lib/browser/api/console-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import type { HeldTerminal } from '#lib/protocol/terminals.ts'

export const terminalQueries = {
  /** Shells of a devbox that the console keeps open, for any page. */
  held: (devboxId: string) =>
    queryOptions({
      queryKey: ['terminals', 'held', devboxId],
      queryFn: async ({ signal }) => {
        const path = `/api/terminals/${encodeURIComponent(devboxId)}`
        return (await fetchConsoleJson<{ terminals: HeldTerminal[] }>(path, signal)).terminals
      },
      refetchInterval: pollEvery(15_000),
    }),
  /** The same for people who may only follow: they wait until someone opens one. */
  followable: (devboxId: string) =>
    queryOptions({ ...terminalQueries.held(devboxId), staleTime: 0, refetchInterval: pollEvery(3_000) }),
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
