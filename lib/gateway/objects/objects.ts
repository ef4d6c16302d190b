import { Readable } from 'node:stream'
import { errors, request as send } from 'undici'
import * as z from 'zod/mini'
import { idPattern } from '#lib/contract/common.ts'
import { ObjectCreate, objects } from '#lib/contract/objects.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { acquireSlot, concurrencyError } from '../limits/concurrency-limit.ts'
import { logError } from '../observability/log.ts'
import { clientFor, toHttpError, upstreamAgent } from '../upstream/client.ts'

// Upload and download links work without a key, so they stay on the console's server, which passes the bytes through.

const callTimeoutMs = 30_000
/** Until the storage responds, after the whole file was sent. */
const storageTimeoutMs = 5 * 60_000
const maxLinkSeconds = 3600

const UploadQuery = z.object({ object: z.string() })

/** `POST /api/objects?object={"name", "content_type", …}` with the file as the body. Returns the complete object. */
export const uploadObject = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const session = await requireCaller(request, 'write')
    const body = readObject(new URL(request.url).searchParams)
    const releaseSlot = acquireSlot(session.account.id, 'calls')
    if (!releaseSlot) throw concurrencyError('calls')
    const service = clientFor(session.api_key, callTimeoutMs).objects
    const what = { operation: objects.create.id, subject: body.name }
    try {
      return await withActivityRecord(
        actorOf(session, (name) => request.headers.get(name)),
        what,
        async () => {
          const created = await service.create({ body }).catch(rethrow)
          const params = { id: created.id }
          what.subject = created.id
          try {
            if (!created.upload_url) throw new HttpError('bad_upstream', 'The service returned no upload link')
            await putContent(created.upload_url, request)
            const { upload_url: _, ...complete } = await service.complete({ params }).catch(rethrow)
            return json(complete)
          } catch (error) {
            await service
              .delete({ params })
              .catch((failure: unknown) => logError(`Could not delete ${created.id}`, failure))
            throw error
          }
        },
      )
    } finally {
      releaseSlot()
    }
  })

const readObject = (parameters: URLSearchParams): ObjectCreate => {
  const query = UploadQuery.safeParse(Object.fromEntries(parameters)).data
  const { data, error } = ObjectCreate.safeParse(parseJson(query?.object))
  if (data) return data
  const [issue] = error.issues
  throw new HttpError('invalid_argument', `${issue?.path.join('.') || 'object'} ${issue?.message}`, {
    field: String(issue?.path[0] ?? 'object'),
  })
}

const parseJson = (text = ''): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const rethrow = (error: unknown): never => {
  throw toHttpError(error)
}

const putContent = async (link: string, { body, headers, signal }: Request): Promise<void> => {
  const length = headers.get('content-length')
  const response = await storageRequest(link, {
    method: 'PUT',
    // Storage behind signed links accepts no body of unknown length.
    headers: { 'content-type': 'application/octet-stream', 'content-length': length ?? '0' },
    body: body ? Readable.from(body.values(), { objectMode: false }) : null,
    signal,
  })
  const text = await response.body.text()
  if (response.statusCode < 300) return
  const { message } = Object(parseJson(text)) as { message?: unknown }
  throw new HttpError(
    response.statusCode >= 500 ? 'unavailable' : 'bad_upstream',
    typeof message === 'string' ? message : `The object storage responded with ${response.statusCode}`,
  )
}

/** `GET /api/objects/:id/content`: the object's bytes as a file. */
export const downloadObject = (request: Request, id: string): Promise<Response> =>
  handleRequest(request, async (requestId) => {
    const session = await requireCaller(request, 'read')
    if (!idPattern.test(id)) throw new HttpError('not_found', `No object ${id}`)
    const service = clientFor(session.api_key, callTimeoutMs).objects
    const { name } = await service.get({ params: { id } }).catch(rethrow)
    const query = { duration_seconds: maxLinkSeconds }
    const { download_url } = await service.download({ params: { id }, query }).catch(rethrow)
    const response = await storageRequest(download_url, { method: 'GET', signal: request.signal })
    if (response.statusCode >= 300) {
      response.body.on('error', () => undefined).destroy()
      throw new HttpError('bad_upstream', `The object storage responded with ${response.statusCode}`)
    }
    const length = response.headers['content-length']
    return new Response(Readable.toWeb(response.body) as ReadableStream, {
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename*=UTF-8''${encodedName(name)}`,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'x-request-id': requestId,
        ...(typeof length === 'string' && { 'content-length': length }),
      },
    })
  })

const encodedName = (name: string): string =>
  encodeURIComponent((name.split('/').findLast((part) => part !== '') ?? 'object').toWellFormed()).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )

type StorageRequest = Pick<NonNullable<Parameters<typeof send>[1]>, 'headers' | 'body' | 'signal'> & {
  method: 'GET' | 'PUT'
}

/** Sends no key: the link itself is the credential, and it must not appear in messages or logs. */
const storageRequest = async (link: string, options: StorageRequest) => {
  const protocol = URL.parse(link)?.protocol ?? ''
  if (!/^https?:$/.test(protocol)) throw new HttpError('bad_upstream', 'The service returned an invalid link')
  try {
    return await send(link, { ...options, dispatcher: upstreamAgent(), headersTimeout: storageTimeoutMs })
  } catch (error) {
    if (options.signal instanceof AbortSignal && options.signal.aborted)
      throw new HttpError('unavailable', 'Client disconnected')
    const reason = error instanceof errors.HeadersTimeoutError ? 'did not respond in time' : 'could not be reached'
    throw new HttpError('unavailable', `The object storage ${reason}`)
  }
}
