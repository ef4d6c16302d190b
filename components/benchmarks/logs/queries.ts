import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { consoleUrl, fetchConsoleJson, fetchWithSession } from '#lib/browser/api/console-api.ts'
import { decodeText } from '#lib/browser/text/decode.ts'
import { maxPieceBytes, type RunLogFile, type RunLogs } from '#lib/protocol/run-logs.ts'

const logsKey = (id: string) => ['benchmark-runs', 'logs', id] as const
const address = (id: string) => `/api/benchmark-runs/${encodeURIComponent(id)}/logs`

/** What is read of a file before anyone scrolls. */
const firstPieceBytes = 1024 * 1024
/** A page holds no more of a file than this. */
export const maxShownBytes = 32 * 1024 * 1024

const readingMs = 1_000
const followMs = 5_000

/** Where a file is downloaded from, whole. */
export const runLogAddress = (id: string, path: string): string =>
  `${address(id)}/file?${new URLSearchParams({ path })}`

export const runLogQueries = {
  /** The files of a run's archive; read anew again and again while the run goes on, and once after `staleAtMs`. */
  list: (
    id: string,
    { isGoingOn, isFollowed, staleAtMs }: { isGoingOn: boolean; isFollowed: boolean; staleAtMs: number },
  ) =>
    queryOptions({
      queryKey: logsKey(id),
      queryFn: async ({ signal, client }): Promise<RunLogs> => {
        const known = client.getQueryData<RunLogs>(logsKey(id))?.archive?.read_at_ms ?? 0
        const newer = isGoingOn && isFollowed ? known : staleAtMs
        return fetchConsoleJson(consoleUrl(address(id), { newer_than: newer, ended: String(!isGoingOn) }), signal)
      },
      retry: false,
      refetchInterval: ({ state: { data, error } }) => {
        const goesOn = isGoingOn && isFollowed
        if (error) return goesOn ? followMs : false
        if (!data || data.reading || (data.archive?.read_at_ms ?? 0) <= staleAtMs) return readingMs
        return goesOn ? followMs : false
      },
    }),

  /** The end of a file as text: its last bytes, from the line on that begins among them at `start`. */
  end: (
    id: string,
    { path, version, size_bytes }: Pick<RunLogFile, 'path' | 'version' | 'size_bytes'>,
    bytes: number,
  ) =>
    queryOptions({
      queryKey: [...logsKey(id), 'end', path, version, bytes] as const,
      queryFn: async ({ signal }) => {
        const from = Math.max(0, size_bytes - bytes)
        const answer = await fetchWithSession(`${runLogAddress(id, path)}&version=${version}`, {
          signal,
          headers: { range: `bytes=${from}-${Math.max(1, size_bytes) - 1}` },
        })
        const text = decodeText(new Uint8Array(await answer.arrayBuffer()))
        const start = from === 0 ? 0 : text.indexOf('\n') + 1
        return { start: from + start, text: text.slice(start) }
      },
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 30_000,
      retry: false,
    }),

  /** A file from its beginning, piece by piece. */
  file: (id: string, { path, version, size_bytes }: Pick<RunLogFile, 'path' | 'version' | 'size_bytes'>) =>
    infiniteQueryOptions({
      queryKey: [...logsKey(id), 'file', path, version] as const,
      queryFn: async ({ pageParam: start, signal }) => {
        const end = start + (start === 0 ? firstPieceBytes : maxPieceBytes)
        const answer = await fetchWithSession(`${runLogAddress(id, path)}&version=${version}`, {
          signal,
          headers: { range: `bytes=${start}-${Math.min(end, size_bytes || 1) - 1}` },
        })
        return new Uint8Array(await answer.arrayBuffer())
      },
      initialPageParam: 0,
      getNextPageParam: (last, pieces) => {
        const loaded = pieces.reduce((sum, { length }) => sum + length, 0)
        return last.length > 0 && loaded < Math.min(size_bytes, maxShownBytes) ? loaded : undefined
      },
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 30_000,
      retry: false,
      refetchInterval: false,
    }),
}
