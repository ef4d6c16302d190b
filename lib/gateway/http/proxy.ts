import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { type Dispatcher, errors, request } from 'undici'
import { readError } from '#lib/client/api-error.ts'
import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import type { ErrorBody } from '#lib/contract/common.ts'
import { devboxes } from '#lib/contract/devboxes.ts'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { bodyLimit, createMatcher, defaultMaxBodyBytes, fillPath } from '#lib/contract/endpoint.ts'
import { endpoints } from '#lib/contract/index.ts'
import { fieldProblems } from '#lib/contract/query-string.ts'
import { valuesOfHeader } from '#lib/wire/mask.ts'
import { requireSignedIn } from '../accounts/session-cookie.ts'
import { keepActivity } from '../activity/activity.ts'
import { keptAlive } from '../alerts/alert-books.ts'
import { refreshEvictions } from '../evictions/hub.ts'
import { registry, trackStream } from '../registry.ts'
import { countIn, tooMany } from '../under-way.ts'
import { answering, hasControlCharacters, json, Refusal } from './answer.ts'
import { decodeSegment } from './front.ts'
import { type ReadHeader, requireSameOrigin } from './origin.ts'
import { outgoingBody, readJsonBody } from './request-body.ts'
import { holdsConfiguration, maskAnswer, takesConfiguration, withoutMasks, withValuesOf } from './secrets.ts'
import { unreachable } from './unreachable.ts'
import { bearer } from './upstream.ts'

const prefix = '/api'
const maxQueryLength = 8192
/** Until the headers of the answer. The service may hold a write back for 30 s, and a synchronous command longer. */
const readTimeoutMs = 15_000
const writeTimeoutMs = 120_000
/** The trials of a large job are all kept before its import is answered; ten thousand took two minutes on a busy machine. */
const importTimeoutMs = 30 * 60_000
const passedOn = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-disposition',
  'retry-after',
  'deprecation',
  'x-should-retry',
  'x-request-id',
]

/**
 * `/api/v1/*`: one pass-through for exactly the operations of the contract a browser may use. The session's cookie
 * becomes the bearer key; nothing else of the browser's headers gets out, and nothing unasked of the service's gets in.
 */
export const proxy = (asked: Request): Promise<Response> =>
  answering(asked, async (requestId) => {
    const header = (name: string) => asked.headers.get(name)
    const { path, search } = rawTarget(asked)
    const { endpoint, params } = matchEndpoint(asked.method, path)
    const streams = endpoint.response.kind === 'events'
    requireSameOrigin(header, asked.method === 'GET' ? (streams ? 'stream' : 'read') : 'write')
    const session = await requireSignedIn(header)
    if (endpoint.answersCredential)
      throw new Refusal(
        'forbidden',
        'The answer is a credential, which the console keeps on its server; ask the service itself for it',
      )
    const target =
      registry().service.url() + fillPath(endpoint.path, checkedParams(endpoint, params)) + checkedSearch(search)
    const countOut = countIn(session.account.id, streams ? 'streams' : 'calls')
    if (!countOut) throw tooMany(streams ? 'streams' : 'calls')
    asked.signal.addEventListener('abort', countOut)
    try {
      const { body, type } = await bodyFor(endpoint, asked, session.api_key)

      const leaving = new AbortController()
      const forget = streams ? trackStream(session.sid, { end: () => leaving.abort() }) : () => undefined
      const upstream = await send(target, timeoutOf(endpoint), {
        method: asked.method as Dispatcher.HttpMethod,
        headers: {
          accept: streams ? 'text/event-stream' : (header('accept') ?? '*/*'),
          // The body is passed on as it comes, so the browser has to understand it. Streams are not packed, which delays them.
          'accept-encoding': isPassedOnPacked(endpoint) && acceptsGzip(header) ? 'gzip' : 'identity',
          'user-agent': 'devdeck',
          'x-request-id': requestId,
          ...(type === undefined ? {} : { 'content-type': type }),
          ...bearer(session.api_key),
        },
        body,
        signal: AbortSignal.any([asked.signal, leaving.signal]),
      }).catch((error: unknown) => {
        forget()
        throw error
      })
      upstream.body.once('close', () => {
        forget()
        countOut()
      })
      if (isOk(upstream) && endsEvictions.has(endpoint.id)) refreshEvictions(session.api_key)
      if (isOk(upstream) && endpoint.id === devboxes.keepAlive.id && params.id) keptAlive(session.api_key, params.id)
      const answer = await passOn(endpoint, upstream, requestId)
      keepActivity({ endpoint, params, session, header }, answer)
      // An answer without a body has no reader that would end the call.
      if (answer.body === null) countOut()
      return answer
    } catch (error) {
      countOut()
      throw error
    }
  })

/** Masks in it are refused, or filled in from the job that the page names. */
const bodyFor = async (endpoint: Endpoint, asked: Request, apiKey: string) => {
  if (!takesConfiguration(endpoint)) return outgoingBody(endpoint, asked)
  const madeFrom = asked.headers.get(valuesOfHeader)
  if (madeFrom !== null && endpoint.id === benchmarkJobs.create.id) {
    const filled = await withValuesOf(await readJsonBody(asked, bodyLimit(endpoint)), apiKey, madeFrom)
    return { type: 'application/json', body: Buffer.from(JSON.stringify(filled)) }
  }
  const { body, ...rest } = await outgoingBody(endpoint, asked)
  return {
    ...rest,
    body: body && Readable.from(withoutMasks(body instanceof Readable ? body : [body]), { objectMode: false }),
  }
}

const isPassedOnPacked = ({ path, response }: Endpoint) => response.kind === 'json' && !holdsConfiguration(path)

const acceptsGzip = (header: ReadHeader) => /\bgzip\b(?! *; *q=0)/.test(header('accept-encoding') ?? '')

/** These take back the eviction of their devbox, which the watch stream does not tell. */
const endsEvictions = new Set<string>([devboxes.suspend.id, devboxes.shutdown.id])

/** The path as it was sent, before anything decoded or folded it; server.ts tells it. */
const rawTarget = (request: Request): { path: string; search: string } => {
  const raw = request.headers.get('x-devdeck-path') ?? request.url.replace(/^https?:\/\/[^/]*/, '')
  const cut = raw.indexOf('?')
  const path = (cut === -1 ? raw : raw.slice(0, cut)).slice(prefix.length)
  return { path, search: cut === -1 ? '' : raw.slice(cut + 1) }
}

interface Match {
  endpoint: Endpoint
  params: Record<string, string>
}

const offered = endpoints.filter(
  ({ path, scope, response }) => path.startsWith('/v1/') && scope !== 'local' && response.kind !== 'websocket',
)

const find = createMatcher(offered)

const matchEndpoint = (method: string, path: string): Match => {
  const { match, allow } = find(method, path.slice(1).split('/').map(decodeSegment))
  // Every segment was decoded, so no parameter is undefined.
  if (match) return { endpoint: match.endpoint, params: match.params as Record<string, string> }
  if (allow)
    throw new Refusal('method_not_allowed', `This takes ${allow.join(' or ')}, not ${method}`, {
      headers: { allow: allow.join(', ') },
    })
  throw new Refusal('not_found', 'The contract has no such operation')
}

/** Whether this is a call with a body that may be too large to hold in memory. */
export const takesLargeBody = (method: string | undefined, url: string | undefined): boolean => {
  const endpoint = endpointOf(method, url)
  return endpoint !== undefined && bodyLimit(endpoint) > defaultMaxBodyBytes
}

export const takesForm = (method: string | undefined, url: string | undefined): boolean =>
  endpointOf(method, url)?.bodyFormat === 'multipart'

const endpointOf = (method: string | undefined, url: string | undefined): Endpoint | undefined => {
  const path = url?.split('?', 1)[0] ?? ''
  const { match } = path.startsWith(`${prefix}/`) ? find(method ?? '', path.slice(prefix.length + 1).split('/')) : {}
  return match?.endpoint
}

const checkedParams = ({ params: schema }: Endpoint, params: Record<string, string>): Record<string, string> => {
  const parsed = schema?.safeParse(params)
  const [problem] = parsed?.error ? fieldProblems(parsed.error) : []
  if (problem) throw new Refusal('invalid_argument', `${problem.field} ${problem.message}`, { field: problem.field })
  // A free parameter (a metadata key) may hold a slash, which goes out encoded; a dot segment would be folded away.
  for (const [field, value] of Object.entries(params))
    if (/^\.{1,2}$/.test(value) || hasControlCharacters(value))
      throw new Refusal('invalid_argument', `${field} must not be a dot segment or hold control characters`, { field })
  return params
}

/** Checks only that this is a query; the service judges what it means. */
const checkedSearch = (search: string): string => {
  if (search === '') return ''
  if (search.length > maxQueryLength)
    throw new Refusal('invalid_argument', `The query is longer than ${maxQueryLength} characters`)
  if (!/^[\x21-\x7e]*$/.test(search) || search.includes('#'))
    throw new Refusal('invalid_argument', 'The query is not valid percent-encoding')
  return `?${search}`
}

type Answer = Dispatcher.ResponseData
type Outgoing = Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'> & { signal: AbortSignal }

const timeoutOf = ({ id, method }: Endpoint): number => {
  if (id === benchmarkJobs.import.id) return importTimeoutMs
  return method === 'GET' ? readTimeoutMs : writeTimeoutMs
}

/** Fails when no headers come in time after the body has gone out. The body of the answer may take any time. */
const send = async (target: string, timeoutMs: number, outgoing: Outgoing): Promise<Answer> => {
  try {
    return await request(target, { ...outgoing, dispatcher: registry().upstream, headersTimeout: timeoutMs })
  } catch (error) {
    if (error instanceof Refusal) throw error
    // The browser has gone, so this answer is not read.
    if (outgoing.signal.aborted) throw new Refusal('unavailable', 'The request was given up')
    if (error instanceof errors.HeadersTimeoutError)
      throw new Refusal(
        'unavailable',
        `The service at ${registry().service.url()} did not answer within ${timeoutMs / 1000} s`,
        // Pages repeat a failed read at once unless told when. After a wait this long they should show the failure first.
        { retryAfterSeconds: 3 },
      )
    throw new Refusal('unavailable', unreachable(registry().service.url(), error))
  }
}

const isOk = ({ statusCode }: Answer) => statusCode >= 200 && statusCode < 300

const headersOf = (upstream: Answer, names: readonly string[]): Headers => {
  const headers = new Headers()
  for (const name of names) {
    const value = upstream.headers[name]
    if (value !== undefined) headers.set(name, String(value))
  }
  return headers
}

const passOn = async (endpoint: Endpoint, upstream: Answer, requestId: string): Promise<Response> => {
  const problem = wrongAnswer(endpoint, upstream)
  if (problem) {
    upstream.body.on('error', () => undefined).destroy()
    throw new Refusal('bad_upstream', problem)
  }
  if (!isOk(upstream)) return passOnError(upstream, requestId)
  const headers = headersOf(upstream, passedOn)
  if (!headers.has('x-request-id')) headers.set('x-request-id', requestId)
  headers.set('x-content-type-options', 'nosniff')
  headers.set('cache-control', 'no-store')
  if (endpoint.response.kind === 'events') {
    // A proxy that compresses or buffers would hold events back.
    headers.set('cache-control', 'no-cache, no-transform')
    headers.set('x-accel-buffering', 'no')
  }
  if (endpoint.response.kind === 'bytes') {
    headers.set('content-security-policy', 'sandbox')
    if (!/^attachment\b/i.test(headers.get('content-disposition') ?? ''))
      headers.set('content-disposition', 'attachment')
    headers.set('cache-control', 'no-store, no-transform')
  }
  if (endpoint.response.kind === 'json' && holdsConfiguration(endpoint.path)) {
    headers.delete('content-length')
    return new Response(await maskAnswer(await upstream.body.text()), { status: upstream.statusCode, headers })
  }
  // A Response with one of these must not have a body, not even an empty one.
  const body = [204, 205].includes(upstream.statusCode) ? null : (Readable.toWeb(upstream.body) as ReadableStream)
  return new Response(body, { status: upstream.statusCode, headers })
}

/** Why this cannot be the answer of the service to that call, or undefined. */
const wrongAnswer = ({ response }: Endpoint, upstream: Answer): string | undefined => {
  const where = registry().service.url()
  const { statusCode: status } = upstream
  const type = String(upstream.headers['content-type'] ?? '')
  if (status < 200 || (status >= 300 && status < 400))
    return `The service at ${where} answered with a redirect (${status}), which is not followed with a key`
  if (/^(text\/html|application\/xhtml)/i.test(type))
    return `What answers at ${where} is not the service: it sent a web page (${status})`
  if (!isOk(upstream)) return undefined
  const expected = { json: 'application/json', events: 'text/event-stream', bytes: '', websocket: '' }[response.kind]
  if (!type.toLowerCase().startsWith(expected))
    return `The service at ${where} answered with ${type || 'no content type'} instead of ${expected}`
  return undefined
}

/** An error of the service in the one shape, whatever it looked like. */
const passOnError = async (upstream: Answer, requestId: string): Promise<Response> => {
  const { statusCode: status } = upstream
  const reason = await readReason(upstream)
  const { code, message, field, requestId: given = requestId } = await readError(new Response(reason, { status }))
  const body: ErrorBody = { code, message, request_id: given, ...(field === undefined ? {} : { field }) }
  const headers = headersOf(upstream, ['retry-after', 'x-should-retry'])
  headers.set('x-request-id', given)
  return json(status === 401 ? { ...body, code: 'unauthenticated' } : body, {
    status,
    headers: Object.fromEntries(headers),
  })
}

const maxReasonBytes = 64 * 1024

/** The body of an error, unpacked; nothing where it is longer than a reason can be, or not what it says it is. */
const readReason = async ({ headers, body }: Answer): Promise<Buffer<ArrayBuffer> | undefined> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxReasonBytes) return undefined
  }
  const bytes = Buffer.concat(chunks)
  if (headers['content-encoding'] !== 'gzip') return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: maxReasonBytes })
  } catch {
    return undefined
  }
}
