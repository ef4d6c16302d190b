import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { consoleUrl, fetchConsoleJson, fetchWithSession } from '#lib/browser/api/console-api.ts'
import { decodeText, isBinary, textDecoder } from '#lib/browser/text/decode.ts'
import { maxPieceBytes, type RunLogFile, type RunLogs } from '#lib/protocol/run-logs.ts'

const logsKey = (id: string) => ['benchmark-runs', 'logs', id] as const
const address = (id: string) => `/api/benchmark-runs/${encodeURIComponent(id)}/logs`

const firstPieceBytes = 1024 * 1024
export const maxShownBytes = 32 * 1024 * 1024

const readingPollMs = 1_000
const followPollMs = 5_000

export const runLogAddress = (id: string, path: string): string =>
  `${address(id)}/file?${new URLSearchParams({ path })}`

export const runLogQueries = {
  /** Files of a run's archive, polled while the run is active and followed, and until read after `staleAtMs`. */
  list: (
    id: string,
    { isActive, isFollowed, staleAtMs }: { isActive: boolean; isFollowed: boolean; staleAtMs: number },
  ) =>
    queryOptions({
      queryKey: logsKey(id),
      queryFn: async ({ signal, client }): Promise<RunLogs> => {
        const known = client.getQueryData<RunLogs>(logsKey(id))?.archive?.read_at_ms ?? 0
        const newer = isActive && isFollowed ? known : staleAtMs
        return fetchConsoleJson(consoleUrl(address(id), { newer_than: newer, ended: String(!isActive) }), signal)
      },
      retry: false,
      refetchInterval: ({ state: { data, error } }) => {
        const isPolling = isActive && isFollowed
        if (error) return isPolling ? followPollMs : false
        if (!data || data.reading || (data.archive?.read_at_ms ?? 0) <= staleAtMs) return readingPollMs
        return isPolling ? followPollMs : false
      },
    }),

  /** The last bytes of a file, starting at a line break. */
  end: (
    id: string,
    { path, version, size_bytes }: Pick<RunLogFile, 'path' | 'version' | 'size_bytes'>,
    bytes: number,
  ) =>
    queryOptions({
      queryKey: [...logsKey(id), 'end', path, version, bytes] as const,
      queryFn: async ({ signal }) => {
        const from = Math.max(0, size_bytes - bytes)
        const response = await fetchWithSession(`${runLogAddress(id, path)}&version=${version}`, {
          signal,
          headers: { range: `bytes=${from}-${Math.max(1, size_bytes) - 1}` },
        })
        const text = decodeText(new Uint8Array(await response.arrayBuffer()))
        const start = from === 0 ? 0 : text.indexOf('\n') + 1
        return { start: from + start, text: text.slice(start) }
      },
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 30_000,
      retry: false,
    }),

  file: (id: string, { path, version, size_bytes }: Pick<RunLogFile, 'path' | 'version' | 'size_bytes'>) =>
    infiniteQueryOptions({
      queryKey: [...logsKey(id), 'file', path, version] as const,
      queryFn: async ({ pageParam: start, signal }) => {
        const end = start + (start === 0 ? firstPieceBytes : maxPieceBytes)
        const response = await fetchWithSession(`${runLogAddress(id, path)}&version=${version}`, {
          signal,
          headers: { range: `bytes=${start}-${Math.min(end, size_bytes || 1) - 1}` },
        })
        return new Uint8Array(await response.arrayBuffer())
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

const attemptAddress = (scenarioRunId: string) => `/api/scenario-runs/${encodeURIComponent(scenarioRunId)}/logs`

export const attemptLogAddress = (scenarioRunId: string, path: string): string =>
  `${attemptAddress(scenarioRunId)}/file?${new URLSearchParams({ path })}`

type Version = Pick<RunLogFile, 'version' | 'size_bytes'>

export const attemptLogQueries = {
  /** Files of one attempt. Polls until its archive is read. */
  list: (scenarioRunId: string) =>
    queryOptions({
      queryKey: ['scenario-runs', 'logs', scenarioRunId] as const,
      queryFn: ({ signal }): Promise<RunLogs> =>
        fetchConsoleJson(consoleUrl(attemptAddress(scenarioRunId), { ended: 'true' }), signal),
      staleTime: 60_000,
      retry: false,
      refetchInterval: ({ state: { data, error } }) => (error || data?.archive ? false : readingPollMs),
    }),
}

/** The first bytes of a log file as text; `address` as from `runLogAddress` or `attemptLogAddress`. */
export const logTextQuery = (address: string, { version, size_bytes }: Version, bytes: number) =>
  queryOptions({
    queryKey: ['log-text', address, version, bytes] as const,
    queryFn: async ({ signal }) => {
      const end = Math.min(size_bytes, bytes)
      const decode = textDecoder()
      const texts: string[] = []
      for (let start = 0; start < end; start += maxPieceBytes) {
        const response = await fetchWithSession(`${address}&version=${version}`, {
          signal,
          headers: { range: `bytes=${start}-${Math.min(end, start + maxPieceBytes) - 1}` },
        })
        const piece = new Uint8Array(await response.arrayBuffer())
        if (start === 0 && isBinary(piece)) return null
        texts.push(decode(piece))
      }
      return texts.join('')
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
    retry: false,
  })
