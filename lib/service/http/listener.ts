import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { errorStatus } from '#lib/contract/errors.ts'
import { type AuditEntry, isAudited, subjectOf } from '#lib/service/audit/audit-log.ts'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import { callKey, Replays } from '#lib/service/kit/replays.ts'
import { type Admission, admit } from './admit.ts'
import type { Identity } from './auth.ts'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import { type LogError, requestIdOf, sendError, sendJson, toServiceError } from './error-response.ts'
import { sendEventStream } from './event-stream.ts'
import { notModified } from './implement.ts'

export interface ListenerContext extends Admission {
  validateResponses: boolean
  stopping: AbortSignal
  /** Resolves once every change so far is on disk. */
  synced: () => Promise<void>
  audit?: Audit
  log: LogError
  otherHosts?: OtherHosts
  problem?: () => string | undefined
  onResponse?: OnResponse
}

/** A response that was sent, or whose client disconnected. */
export interface Responded {
  requestId: string
  method: string
  /** Without the query, which may contain metadata. */
  path: string
  /** Endpoint of the contract, or `unknown`. */
  operation: string
  account: string | undefined
  status: number
  durationMs: number
  isStream: boolean
  isComplete: boolean
}
export type OnResponse = (responded: Responded) => void

/** Called before the response of a change is sent. */
export type Audit = (
  change: Pick<AuditEntry, 'operation' | 'subject' | 'status' | 'address' | 'request_id'> &
    Pick<Identity, 'account' | 'keyId'>,
) => void

export interface OtherHosts {
  handles: (request: IncomingMessage) => boolean
  respond: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>
}

interface StoredResponse {
  /** Undefined for 304. */
  json: string | Uint8Array | undefined
  headers: [name: string, value: string][]
}

export const createListener = (context: ListenerContext) => {
  const concurrency = new ConcurrencyLimit()
  // A request whose client disconnected fails with the signal's reason and is not replayed.
  const replays = new Replays<StoredResponse>(({ json }) => json?.length ?? 0)
  return async (request: IncomingMessage, response: ServerResponse) => {
    if (!context.stopping.aborted && context.otherHosts?.handles(request))
      return context.otherHosts.respond(request, response)
    const requestId = requestIdOf(request)
    let operation = 'unknown'
    let account: string | undefined
    let isStream = false
    const startedMs = performance.now()
    let release = () => {}
    let isClosed = false
    let audit: ((status: number | null, json?: string | Uint8Array) => void) | undefined
    const asServiceError = (error: unknown): ServiceError => toServiceError(error, requestId, operation, context.log)
    const disconnected = new AbortController()
    response.once('close', () => {
      isClosed = true
      release()
      if (!response.writableFinished) disconnected.abort()
      context.onResponse?.({
        requestId,
        method: request.method ?? '',
        path: (request.url ?? '').split('?', 1)[0] ?? '',
        operation,
        account,
        status: response.statusCode,
        durationMs: performance.now() - startedMs,
        isStream,
        isComplete: response.writableFinished,
      })
    })
    response.on('error', () => disconnected.abort())
    try {
      if (context.stopping.aborted)
        // Time for a restart: public clients hang over HTTP/2 while no service is listening.
        throw new ServiceError('unavailable', 'The service is stopping', { retryAfterSeconds: 3 })
      const problem = context.problem?.()
      if (problem !== undefined) throw new ServiceError('unavailable', problem, { shouldRetry: false })
      const { endpoint, identity, input, call } = await admit(request, requestId, context)
      operation = endpoint.id
      account = identity.account
      isStream = endpoint.response.kind === 'events'
      if (isAudited(endpoint, input.body))
        audit = (status, json) =>
          context.audit?.({
            account: identity.account,
            keyId: identity.keyId,
            operation,
            subject: subjectOf(input.params, json),
            status,
            address: request.socket.remoteAddress ?? '',
            request_id: requestId,
          })
      const { kind } = endpoint.response
      release = concurrency.acquire(identity.account, kind === 'events' ? 'streams' : 'calls')
      if (isClosed) release()
      if (kind === 'websocket')
        throw invalid({ field: 'upgrade', message: 'is missing; this endpoint requires a WebSocket' })
      const validated = <J extends string | Uint8Array>(json: J): J => {
        if (context.validateResponses) validateResponse(endpoint, json.toString())
        return json
      }
      const toJson = (value: unknown) =>
        validated(value instanceof Uint8Array ? Buffer.from(value) : JSON.stringify(value))
      const respond = async (): Promise<StoredResponse> => {
        const headers: StoredResponse['headers'] = []
        const setHeader = (name: string, value: string) => void headers.push([name, value])
        const result = await call({
          signal: disconnected.signal,
          setHeader,
          ifNoneMatch: request.headers['if-none-match'],
        })
        return { json: result === notModified ? undefined : toJson(result), headers }
      }
      if (kind === 'json') {
        const key = isRepeatable(request, requestId, endpoint)
          ? callKey(identity.account, requestId, endpoint.id, input)
          : undefined
        const { json, headers } = await (key === undefined ? respond() : replays.once(key, respond))
        if (request.method !== 'GET') await context.synced()
        audit?.(200, json)
        for (const [name, value] of headers) response.setHeader(name, value)
        if (json !== undefined) return sendJson(response, 200, json, requestId)
        return response.writeHead(304, { 'cache-control': 'no-store', 'x-request-id': requestId }).end()
      }
      const setHeader = (name: string, value: string) => response.setHeader(name, value)
      const result = await call({ signal: disconnected.signal, setHeader, ifNoneMatch: undefined })
      audit?.(200)
      if (kind === 'events') {
        const ends = [disconnected.signal, context.stopping, ...(identity.revoked ? [identity.revoked] : [])]
        const signal = AbortSignal.any(ends)
        const source = result as AsyncIterable<unknown>
        const encode = (event: unknown) => `data: ${validated(JSON.stringify(event))}\n\n`
        await sendEventStream({ response, source, requestId, signal, encode, toServiceError: asServiceError })
        disconnected.abort()
      } else {
        response.setHeader('content-type', (endpoint.response as { contentType: string }).contentType)
        response.setHeader('x-content-type-options', 'nosniff')
        response.setHeader('x-request-id', requestId)
        await pipeline(result as AsyncIterable<Uint8Array>, response)
      }
    } catch (error) {
      if (disconnected.signal.aborted && isDisconnect(error, disconnected.signal)) return audit?.(null)
      const failure = asServiceError(error)
      if (!response.headersSent) audit?.(errorStatus[failure.code])
      // After part of the response was sent, only a broken connection shows that it is incomplete.
      if (response.headersSent) response.destroy()
      else if (!response.destroyed) {
        for (const name of response.getHeaderNames()) response.removeHeader(name)
        discardBody(request)
        sendError(response, failure, requestId)
      }
    }
  }
}

/** Not waits, which clients repeat, and snapshots, which handle retries themselves. */
const isRepeatable = ({ method, headers }: IncomingMessage, requestId: string, { bodyFormat, path }: Endpoint) =>
  method === 'POST' &&
  bodyFormat === undefined &&
  !/wait|snapshot_disk/.test(path) &&
  headers['x-request-id'] === requestId

const isDisconnect = (error: unknown, { reason }: AbortSignal) =>
  error === reason || (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE'

const maxDiscardMs = 30_000

// Closing a connection with unread data resets it and may lose the response, so the body is read and discarded for a while.
const discardBody = (request: IncomingMessage) => {
  if (request.complete) return
  if (request.httpVersionMajor === 2) {
    const { stream } = request as unknown as Http2ServerRequest
    // The response only finishes when the stream closes, which a client that stops sending never does.
    return stream.once('finish', () => stream.close())
  }
  const timer = setTimeout(() => request.socket.destroy(), maxDiscardMs)
  request.unpipe()
  request.once('close', () => clearTimeout(timer)).resume()
}

const validateResponse = (endpoint: Endpoint, json: string) => {
  if (!('schema' in endpoint.response)) return
  const body: unknown = JSON.parse(json)
  const parsed = endpoint.response.schema.safeParse(body)
  const [issue] = parsed.error?.issues ?? []
  if (issue)
    throw new Error(
      `The response of ${endpoint.id} violates the contract at ${issue.path.join('.') || 'its root'}: ${issue.message}`,
    )
  const unknownField = findUnknownField(body, parsed.data)
  if (unknownField !== undefined)
    throw new Error(`The response of ${endpoint.id} has a field that is not in the contract: ${unknownField}`)
}

const findUnknownField = (original: unknown, parsed: unknown): string | undefined => {
  if (typeof original !== 'object' || original === null || typeof parsed !== 'object' || parsed === null)
    return undefined
  for (const [key, value] of Object.entries(original)) {
    if (!Object.hasOwn(parsed, key)) return key
    const deeper = findUnknownField(value, (parsed as Record<string, unknown>)[key])
    if (deeper !== undefined) return `${key}.${deeper}`
  }
  return undefined
}
