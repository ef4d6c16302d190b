import { Readable } from 'node:stream'
import { readError } from '#lib/client/api-error.ts'
import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { Id } from '#lib/contract/common.ts'
import { fillPath } from '#lib/contract/endpoint.ts'
import { scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { maxPieceBytes, type RunLogFile, type RunLogs } from '#lib/protocol/run-logs.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { acquireSlot, concurrencyError } from '../limits/concurrency-limit.ts'
import { registry, slot } from '../registry/registry.ts'
import { bearer, toHttpError } from '../upstream/client.ts'
import { ArchiveCache, type DownloadArchive } from './archive-cache.ts'
import type { ArchiveFiles } from './archive-files.ts'

const archives = slot(
  'logArchives',
  () => new ArchiveCache(),
  (cache) => cache.close(),
)

/** Responds within this time; the page polls while the archive is being read. */
const listWaitMs = 2_000
const fileWaitMs = 60_000

/** `GET /api/benchmark-runs/{id}/logs?newer_than=&ended=`: the files of a run's log archive. */
export const listRunLogs = (request: Request, id: string): Promise<Response> =>
  listOf(request, { of: 'benchmarkRuns', id })

/** `GET /api/scenario-runs/{id}/logs`: the files of an attempt, from its own small archive. */
export const listScenarioRunLogs = (request: Request, id: string): Promise<Response> =>
  listOf(request, { of: 'scenarioRuns', id })

const listOf = (request: Request, run: Archived): Promise<Response> =>
  withSession(request, run.id, async (apiKey, params) => {
    const { opened, reading } = await openArchive(apiKey, run, {
      newerThanMs: Number(params.get('newer_than') ?? 0),
      hasEnded: params.get('ended') === 'true',
      waitMs: listWaitMs,
    })
    return json({
      archive: opened
        ? {
            read_at_ms: opened.readAtMs,
            size_bytes: opened.files.sizeBytes,
            files: [...opened.files.files],
            left_out: opened.files.leftOut,
          }
        : null,
      reading: reading ? { received_bytes: reading.receivedBytes, total_bytes: reading.totalBytes } : null,
    } satisfies RunLogs)
  })

/** `GET /api/benchmark-runs/{id}/logs/file?path=&version=`: a file or part of it. 409 if the version changed. */
export const getRunLogFile = (request: Request, id: string): Promise<Response> =>
  fileOf(request, { of: 'benchmarkRuns', id })

export const getScenarioRunLogFile = (request: Request, id: string): Promise<Response> =>
  fileOf(request, { of: 'scenarioRuns', id })

interface Archived {
  of: 'benchmarkRuns' | 'scenarioRuns'
  id: string
}

const fileOf = (request: Request, run: Archived): Promise<Response> =>
  withSession(request, run.id, async (apiKey, params) => {
    const { opened } = await openArchive(apiKey, run, { waitMs: fileWaitMs })
    if (!opened) throw new HttpError('timeout', "The run's archive is still being read; try again in a moment")
    const path = params.get('path') ?? ''
    const file = opened.files.find(path)
    if (!file) throw new HttpError('not_found', `The run's archive has no file ${path.slice(0, 200)}`)
    const version = params.get('version')
    if (version !== null && version !== file.version)
      throw new HttpError('conflict', `${file.path} has changed since it was listed`)
    const range = request.headers.get('range')
    if (range === null) return wholeFile(opened.files, file)
    return partOf(opened.files, file, range)
  })

const withSession = (
  request: Request,
  id: string,
  answer: (apiKey: string, params: URLSearchParams) => Promise<Response>,
): Promise<Response> =>
  handleRequest(request, async () => {
    const { account, api_key } = await requireCaller(request, 'read')
    // Ids become path segments, so dots are not allowed.
    if (!Id.safeParse(id).success) throw new HttpError('invalid_argument', 'Invalid run ID', { field: 'id' })
    const releaseSlot = acquireSlot(account.id, 'calls')
    if (!releaseSlot) throw concurrencyError('calls')
    try {
      return await answer(api_key, new URL(request.url).searchParams)
    } finally {
      releaseSlot()
    }
  })

const openArchive = (
  apiKey: string,
  { of, id }: Archived,
  how: { newerThanMs?: number; hasEnded?: boolean; waitMs: number },
) => archives().look(`${apiKey} ${of} ${id}`, download(apiKey, { of, id }), how)

const download =
  (apiKey: string, { of, id }: Archived): DownloadArchive =>
  async (signal) => {
    const { method, path } = { benchmarkRuns, scenarioRuns }[of].downloadLogs
    const where = registry().service.url()
    const response = await fetch(where + fillPath(path, { id }), {
      method,
      redirect: 'manual',
      signal,
      headers: {
        accept: 'application/zip',
        'accept-encoding': 'identity',
        'user-agent': 'devdeck',
        ...bearer(apiKey),
      },
    }).catch(() => {
      throw new HttpError('unavailable', `The service at ${where} can't be reached or did not respond in time`)
    })
    const type = response.headers.get('content-type') ?? ''
    const isZip = /^application\/(zip|octet-stream|x-zip-compressed)\b/i.test(type)
    if (response.ok && isZip) return response
    if (response.status >= 400) throw toHttpError(await readError(response))
    await response.body?.cancel()
    throw new HttpError(
      'bad_upstream',
      `The service returned ${response.status} with ${type || 'no type'} instead of a zip`,
    )
  }

/** The archive of a run as the service sends it. */
export const downloadRunLogs = (apiKey: string, id: string, signal: AbortSignal): Promise<Response> =>
  download(apiKey, { of: 'benchmarkRuns', id })(signal)

const headersOf = (file: RunLogFile): Record<string, string> => ({
  'content-type': 'application/octet-stream',
  'accept-ranges': 'bytes',
  etag: `"${file.version}"`,
  'cache-control': 'no-store, no-transform',
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'sandbox',
})

const wholeFile = (files: ArchiveFiles, file: RunLogFile): Response => {
  if (file.refusal !== null) throw files.refusalOf(file)
  const name = encodeURIComponent((file.path.split('/').at(-1) ?? '').toWellFormed()).replace(/['()*]/g, '_')
  return new Response(Readable.toWeb(Readable.from(files.whole(file), { objectMode: false })) as ReadableStream, {
    headers: {
      ...headersOf(file),
      'content-length': String(file.size_bytes),
      'content-disposition': `attachment; filename*=UTF-8''${name}`,
    },
  })
}

const partOf = async (files: ArchiveFiles, file: RunLogFile, range: string): Promise<Response> => {
  const [, from = '', to = ''] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(range) ?? []
  const start = Number(from)
  const end = Math.min(file.size_bytes, to === '' ? file.size_bytes : Number(to) + 1, start + maxPieceBytes)
  if (from === '' || (start >= end && file.size_bytes > 0))
    throw new HttpError(
      'invalid_argument',
      `Range must be bytes=start-end within the ${file.size_bytes} bytes of the file`,
      {
        field: 'range',
      },
    )
  const bytes = await files.piece(file, start, end)
  return new Response(bytes as Buffer<ArrayBuffer>, {
    status: file.size_bytes === 0 ? 200 : 206,
    headers: {
      ...headersOf(file),
      ...(file.size_bytes > 0 && { 'content-range': `bytes ${start}-${end - 1}/${file.size_bytes}` }),
    },
  })
}
