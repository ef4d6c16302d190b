import { type Endpoint, type EndpointAnswer, type EndpointCall, fillPath } from '#lib/contract/endpoint.ts'
import type { ErrorCode } from '#lib/contract/errors.ts'
import { codeForStatus, errorStatus } from '#lib/contract/errors.ts'
import { type Contract, contract } from '#lib/contract/index.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { encodeQuery } from '#lib/contract/query-string.ts'
import { readEvents } from './events.ts'

/** A refused or failed call. Branch on `code`; `message` is for people. `status` is 0 when no answer came. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode | 'unreachable' | (string & {})
  readonly status: number
  readonly requestId: string | undefined
  readonly field: string | undefined
  /** How long the service asks to wait before the next call; undefined when it does not. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: ApiError['code'],
    status: number,
    message: string,
    more: { requestId?: string; field?: string; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.code = code
    this.status = status
    this.requestId = more.requestId
    this.field = more.field
    this.retryAfterMs = more.retryAfterMs
  }
}

const final = new Set<string>([
  'not_found',
  'unauthenticated',
  'forbidden',
  'not_implemented',
  'invalid_argument',
  'conflict',
])

/** Whether the same call would fail again, however often it is made. */
export const isFinal = (error: unknown): boolean => error instanceof ApiError && final.has(error.code)

export interface ClientOptions {
  /** Scheme, host and port, with the path the contract's paths are appended to, if any. */
  baseUrl: string
  headers?: Record<string, string>
  fetch?: typeof globalThis.fetch
}

interface CallOptions {
  signal?: AbortSignal
}

type Answer<E extends Endpoint> = E['response']['kind'] extends 'events'
  ? AsyncIterable<EndpointAnswer<E>>
  : E['response']['kind'] extends 'json'
    ? Promise<EndpointAnswer<E>>
    : Promise<Response>

type Call<E extends Endpoint> =
  Record<never, never> extends EndpointCall<E>
    ? (call?: EndpointCall<E> & CallOptions) => Answer<E>
    : (call: EndpointCall<E> & CallOptions) => Answer<E>

export type Client = {
  [R in keyof Contract]: { [O in keyof Contract[R]]: Contract[R][O] extends Endpoint ? Call<Contract[R][O]> : never }
}

interface AnyCall extends CallOptions {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  file?: Blob
}

/**
 * One method per operation of the contract: `client.axons.list({ query })`. JSON answers are read leniently: unknown
 * fields and values pass through, and what is missing reads as nothing. Event streams are async iterables that end with the stream and never reconnect.
 */
export const createClient = ({ baseUrl, headers = {}, fetch = globalThis.fetch }: ClientOptions): Client => {
  const root = baseUrl.replace(/\/+$/, '')

  const send = async (endpoint: Endpoint, { params, query, body, file, signal }: AnyCall): Promise<Response> => {
    const search = query ? encodeQuery(query) : ''
    const url = root + fillPath(endpoint.path, params) + (search && `?${search}`)
    const response = await fetch(url, {
      method: endpoint.method,
      headers: {
        accept: accepted(endpoint),
        ...(isJson(endpoint) ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      // Of a form fetch states the type itself, with the boundary it has chosen.
      body: isJson(endpoint) ? JSON.stringify(body ?? {}) : file && toForm(body ?? {}, file),
      signal,
      redirect: 'error',
      cache: 'no-store',
    }).catch((cause: unknown) => {
      if (signal?.aborted) throw cause
      throw new ApiError('unreachable', 0, 'The service cannot be reached', { cause })
    })
    if (!response.ok) throw await readError(response)
    return response
  }

  const call = (endpoint: Endpoint) => {
    const { response } = endpoint
    switch (response.kind) {
      case 'json':
        return async (options: AnyCall = {}) =>
          readLeniently(response.schema, await readJson(await send(endpoint, options)))
      case 'events':
        return (options: AnyCall = {}) => readEvents(() => send(endpoint, options), streamError)
      default:
        return (options: AnyCall = {}) => send(endpoint, options)
    }
  }

  return Object.fromEntries(
    Object.entries(contract).map(([resource, operations]) => [
      resource,
      Object.fromEntries(Object.entries(operations).map(([name, endpoint]) => [name, call(endpoint as Endpoint)])),
    ]),
  ) as unknown as Client
}

const isJson = ({ body, bodyFormat }: Endpoint) => body !== undefined && bodyFormat !== 'multipart'

const accepted = ({ response }: Endpoint): string => {
  if (response.kind === 'bytes') return response.contentType.split(';')[0] ?? '*/*'
  return response.kind === 'events' ? 'text/event-stream' : 'application/json'
}

/** The text parts come first: a service that knows where the file goes takes it as it comes. */
const toForm = (fields: object, file: Blob): FormData => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value))
  form.append('file', file)
  return form
}

const readJson = async (response: Response): Promise<object> => {
  const type = response.headers.get('content-type') ?? ''
  if (!/^application\/(json|[\w.-]+\+json)\b/.test(type))
    throw new ApiError(
      'bad_upstream',
      response.status,
      `The answer is not JSON but ${type || 'of no stated type'}: this is not the service`,
    )
  const text = await response.text().catch((cause: unknown) => {
    if (isAbort(cause)) throw cause
    throw new ApiError('unreachable', response.status, 'The service went away in the middle of its answer', { cause })
  })
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch (cause) {
    throw new ApiError('bad_upstream', response.status, 'The answer is not valid JSON: this is not the service', {
      cause,
    })
  }
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer
  throw new ApiError('bad_upstream', response.status, 'The answer is no JSON object: this is not the service')
}

const isAbort = (error: unknown) => error instanceof Error && error.name === 'AbortError'

/** An answer that is no success, as the error it stands for. */
export const readError = async (response: Response): Promise<ApiError> => {
  const text = await response.text().catch(() => '')
  const body = readObject(text)
  const asText = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const code = asText(body.code)
  return new ApiError(
    code && Object.hasOwn(errorStatus, code) ? code : codeForStatus(response.status),
    response.status,
    asText(body.message) ?? `The service answered ${response.status} without a reason`,
    {
      requestId: asText(body.request_id),
      field: asText(body.field),
      retryAfterMs: readRetryAfter(response.headers),
    },
  )
}

/** `Retry-After` in milliseconds, given as seconds or as a date; undefined when it says nothing usable. */
export const readRetryAfter = (headers: Headers): number | undefined => {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const seconds = Number(value)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** What an `error` event says: `code` is the HTTP status the failure would have had as an answer. */
const streamError = (data: string): ApiError => {
  const { code, message } = readObject(data)
  const status = Number(code)
  return new ApiError(
    codeForStatus(Number.isInteger(status) ? status : 500),
    Number.isInteger(status) ? status : 500,
    typeof message === 'string' ? message : 'The service ended the stream without a reason',
  )
}

/** The JSON object in `text`, or an empty one when it holds something else. */
const readObject = (text: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(text))
  } catch {
    // Not our shape: what is known without it has to tell.
    return {}
  }
}
