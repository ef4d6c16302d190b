import { Readable } from 'node:stream'
import { type Dispatcher, errors, request as send } from 'undici'
import * as z from 'zod/mini'
import { axons, isReadOnlySql } from '#lib/contract/axons.ts'
import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import type { ErrorBody } from '#lib/contract/common.ts'
import { bodyLimit, defaultMaxBodyBytes, type Endpoint } from '#lib/contract/endpoint.ts'
import { executions } from '#lib/contract/executions.ts'
import { isListFolderCommand } from '#lib/protocol/list-folder.ts'
import { valuesOfHeader } from '#lib/protocol/mask.ts'
import { leastRole } from '#lib/protocol/roles.ts'
import { trackStream } from '../accounts/open-streams.ts'
import { requireSignedIn } from '../accounts/session-cookie.ts'
import type { KeyHolder, Session } from '../accounts/types.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { bodyTooLarge, readBody, readJsonBody, requireBodyType } from '../http/json-body.ts'
import { type ReadHeader, requireSameOrigin } from '../http/origin.ts'
import { parseJson } from '../http/sockets.ts'
import { acquireSlot, concurrencyError } from '../limits/concurrency-limit.ts'
import { requireRole, roleOf } from '../people/roles.ts'
import { registry } from '../registry/registry.ts'
import { bearer, onKeyAccepted, unreachable, upstreamAgent } from '../upstream/client.ts'
import { acceptsJobConfig, containsJobConfig, rejectMasks, restoreMaskedValues } from './masking.ts'
import { isOk, toPageResponse, type UpstreamResponse } from './response.ts'
import { matchTarget, servicePath } from './target.ts'

/** A call of a page that the service has responded to. */
export interface ProxiedCall {
  endpoint: Endpoint
  params: Record<string, string>
  session: Session
  header: ReadHeader
  body: unknown
}

/** Lets another subject, such as activity or alerts, react to what pages do. */
export type ProxyHook = (call: ProxiedCall, response: Response) => void

/** Whether a 401 means that the service lacks the operation: hosted services return it for unknown paths. */
export type MissingOperationCheck = (session: Session, endpoint: Endpoint) => Promise<boolean>

const missingOperation = { code: 'not_implemented', message: "This service doesn't offer this operation" }

/** A personal key keeps the API key of the service that its person had when creating it. */
const rejectedKey = {
  code: 'unauthenticated',
  message:
    'The service no longer accepts the API key that this personal key was created with. Create a new personal key',
} as const

/** Time until response headers. The service may delay a write by 30 s, and a synchronous command for longer. */
const readTimeoutMs = 15_000
const writeTimeoutMs = 120_000
/** Importing ten thousand trials took two minutes on a busy machine. */
const importTimeoutMs = 30 * 60_000

// `/api/v1/*`: passes through exactly the contract's operations that a browser may use. The session cookie becomes the
// bearer key; no other browser header reaches the service, and only listed service headers reach the browser.
export const createProxy =
  (hooks: readonly ProxyHook[], isMissingOperation: MissingOperationCheck = async () => false) =>
  (request: Request): Promise<Response> =>
    handleRequest(request, async (requestId) => {
      const header = (name: string) => request.headers.get(name)
      const target = matchTarget(request)
      const { endpoint, params } = target
      const isStream = endpoint.response.kind === 'events'
      requireSameOrigin(header, request.method === 'GET' ? (isStream ? 'stream' : 'read') : 'write')
      const session = await requireSignedIn(header)
      const mayOnlyList = endpoint.id === executions.executeSync.id && roleOf(session) === 'viewer'
      if (!mayOnlyList) requireRole(session, leastRole(endpoint))
      if (endpoint.returnsCredential)
        throw new HttpError('forbidden', "The response is a credential, which never leaves the console's server")
      const kind = isStream ? 'streams' : 'calls'
      const releaseSlot = acquireSlot(session.account.id, kind)
      if (!releaseSlot) throw concurrencyError(kind)
      request.signal.addEventListener('abort', releaseSlot)
      const sessionEnd = new AbortController()
      const untrack = isStream ? trackStream(session, { end: () => sessionEnd.abort() }) : () => undefined
      const release = () => {
        untrack()
        releaseSlot()
      }
      try {
        const { body, type } = mayOnlyList
          ? await listingBody(request, session)
          : await prepareBody(endpoint, request, session)
        requireRoleForSql(endpoint, session, body)
        const upstream = await callService(endpoint, servicePath(target), {
          method: request.method as Dispatcher.HttpMethod,
          headers: {
            accept: isStream ? 'text/event-stream' : (header('accept') ?? '*/*'),
            // Compressed bodies pass through as they are. Compression would delay streams.
            'accept-encoding': allowsCompressed(endpoint) && acceptsGzip(header) ? 'gzip' : 'identity',
            'user-agent': 'devdeck',
            'x-request-id': requestId,
            ...(type === undefined ? {} : { 'content-type': type }),
            ...bearer(session.api_key),
          },
          body,
          signal: AbortSignal.any([request.signal, sessionEnd.signal]),
        })
        upstream.body.once('close', release)
        if (isOk(upstream)) onKeyAccepted(session.api_key)
        const isMissing = upstream.statusCode === 401 && (await isMissingOperation(session, endpoint))
        const isRejected = upstream.statusCode === 401 && !isMissing && session.personal_key !== undefined
        if (isMissing || isRejected) upstream.body.on('error', () => undefined).destroy()
        const response = isMissing
          ? json({ ...missingOperation, request_id: requestId } satisfies ErrorBody, { status: 501 })
          : isRejected
            ? json({ ...rejectedKey, request_id: requestId } satisfies ErrorBody, { status: 401 })
            : await toPageResponse(endpoint, upstream, { requestId, account: session.account.id })
        for (const hook of hooks) hook({ endpoint, params, session, header, body }, response)
        // A response without a body has no reader that would close it.
        if (response.body === null) release()
        return response
      } catch (error) {
        release()
        throw error
      }
    })

/** SQL may also write: a viewer's statements must only read. */
const requireRoleForSql = ({ id }: Endpoint, session: Session, body: UpstreamBody['body']): void => {
  if ((id !== axons.query.id && id !== axons.batch.id) || roleOf(session) !== 'viewer') return
  const given = parseJson(body instanceof Uint8Array ? Buffer.from(body).toString() : '')
  const read =
    id === axons.query.id ? z.array(Statement).safeParse([given]).data : Batch.safeParse(given).data?.statements
  if (!read?.every(({ sql }) => isReadOnlySql(sql))) requireRole(session, 'member')
}
const Statement = z.object({ sql: z.string() })
const Batch = z.object({ statements: z.array(Statement) })

/** The Files tab lists folders with a command, because the API has no call for it. A viewer may run no other command. */
const listingBody = async (request: Request, session: Session): Promise<UpstreamBody> => {
  const { data } = ListingBody.safeParse(await readJsonBody(request))
  if (!data || !isListFolderCommand(data.command)) requireRole(session, 'member')
  return { type: 'application/json', body: Buffer.from(JSON.stringify(data)) }
}
const ListingBody = z.strictObject({ command: z.string() })

/** Rejects masked values in the body, or fills them in from the job that the page names. */
const prepareBody = async (endpoint: Endpoint, request: Request, session: KeyHolder) => {
  if (!acceptsJobConfig(endpoint)) return upstreamBody(endpoint, request)
  const sourceJob = request.headers.get(valuesOfHeader)
  if (sourceJob !== null && endpoint.id === benchmarkJobs.create.id) {
    const filled = await restoreMaskedValues(await readJsonBody(request, bodyLimit(endpoint)), session, sourceJob)
    return { type: 'application/json', body: Buffer.from(JSON.stringify(filled)) }
  }
  const { body, ...rest } = await upstreamBody(endpoint, request)
  return {
    ...rest,
    body: body && Readable.from(rejectMasks(body instanceof Readable ? body : [body]), { objectMode: false }),
  }
}

interface UpstreamBody {
  type?: string
  body: Uint8Array | Readable | null
}

/** The body to send to the service. Only endpoints with large bodies stream; others are read whole first. */
const upstreamBody = async (endpoint: Endpoint, request: Request): Promise<UpstreamBody> => {
  const limit = bodyLimit(endpoint)
  const isEmpty = !request.body || request.headers.get('content-length') === '0'
  if (limit > defaultMaxBodyBytes && !isEmpty) return streamedBody(endpoint, request, limit)
  const bytes = request.method === 'GET' ? new Uint8Array() : await readBody(request)
  return bytes.byteLength > 0 ? { type: 'application/json', body: bytes } : { body: null }
}

const streamedBody = ({ bodyFormat }: Endpoint, request: Request, limit: number): UpstreamBody => {
  if (bodyFormat === 'multipart') requireBodyType(request, /^multipart\/form-data *;/i, 'multipart/form-data')
  else requireBodyType(request)
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw bodyTooLarge(limit)
  const type = request.headers.get('content-type') ?? ''
  return { type, body: Readable.from(upTo(limit, request), { objectMode: false }) }
}

async function* upTo(limit: number, { body }: Request): AsyncGenerator<Uint8Array> {
  let length = 0
  // The server drains a rejected body: canceling here would cut the connection before the response arrives.
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    length += chunk.byteLength
    if (length > limit) throw bodyTooLarge(limit)
    yield chunk
  }
}

const allowsCompressed = ({ path, response }: Endpoint) => response.kind === 'json' && !containsJobConfig(path)

const acceptsGzip = (header: ReadHeader) => /\bgzip\b(?! *; *q=0)/.test(header('accept-encoding') ?? '')

const timeoutOf = ({ id, method }: Endpoint): number => {
  if (id === benchmarkJobs.import.id) return importTimeoutMs
  return method === 'GET' ? readTimeoutMs : writeTimeoutMs
}

type UpstreamRequest = Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'> & { signal: AbortSignal }

/** Fails when no headers arrive in time after the body was sent. The response body may take any time. */
const callService = async (endpoint: Endpoint, path: string, request: UpstreamRequest): Promise<UpstreamResponse> => {
  const serviceUrl = registry().service.url()
  const headersTimeout = timeoutOf(endpoint)
  try {
    return await send(serviceUrl + path, { ...request, dispatcher: upstreamAgent(), headersTimeout })
  } catch (error) {
    if (error instanceof HttpError) throw error
    if (request.signal.aborted) throw new HttpError('unavailable', 'Client disconnected')
    if (error instanceof errors.HeadersTimeoutError)
      throw new HttpError(
        'unavailable',
        `The service at ${serviceUrl} did not respond within ${headersTimeout / 1000} s`,
        // Pages retry a failed read at once unless given a delay. After such a wait, they should show the error first.
        { retryAfterSeconds: 3 },
      )
    throw new HttpError('unavailable', unreachable(serviceUrl, error))
  }
}
