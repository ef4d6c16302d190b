import { encodeQuery } from '#lib/contract/encode-query.ts'
import { type Endpoint, type EndpointCall, type EndpointResult, fillPath } from '#lib/contract/endpoint.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ApiError, readError, streamError } from './api-error.ts'

export type Resources = Record<string, Record<string, Endpoint>>

export interface ClientOptions {
  /** Base URL, with a path if the API is below one. */
  baseUrl: string
  headers?: Record<string, string>
  fetch?: typeof globalThis.fetch
  /** Called for each stream event that is not JSON or too long. */
  onUnreadable?: () => void
}

interface CallOptions {
  signal?: AbortSignal
}

type Answer<E extends Endpoint> = E['response']['kind'] extends 'events'
  ? AsyncIterable<EndpointResult<E>>
  : E['response']['kind'] extends 'json'
    ? Promise<EndpointResult<E>>
    : Promise<Response>

type Call<E extends Endpoint> =
  Record<never, never> extends EndpointCall<E>
    ? (call?: EndpointCall<E> & CallOptions) => Answer<E>
    : (call: EndpointCall<E> & CallOptions) => Answer<E>

export type Calls<R extends Resources> = {
  [Name in keyof R]: { [O in keyof R[Name]]: Call<R[Name][O]> }
}

interface AnyCall extends CallOptions {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  file?: Blob
}

/** One method per operation, as in `calls.axons.list({ query })`. Reads responses leniently; streams never reconnect. */
export const createCalls = <R extends Resources>(
  resources: R,
  { baseUrl, headers = {}, fetch = globalThis.fetch, onUnreadable }: ClientOptions,
): Calls<R> => {
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
      // fetch sets the content type of a form itself, with its boundary.
      body: isJson(endpoint) ? JSON.stringify(body ?? {}) : file && toForm(body ?? {}, file),
      signal,
      redirect: 'error',
      cache: 'no-store',
    }).catch((cause: unknown) => {
      if (signal?.aborted || cause instanceof ApiError) throw cause
      throw new ApiError('unreachable', 0, "The service can't be reached", { cause })
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
        return (options: AnyCall = {}) => readStream(() => send(endpoint, options), onUnreadable)
      default:
        return (options: AnyCall = {}) => send(endpoint, options)
    }
  }

  return Object.fromEntries(
    Object.entries(resources).map(([resource, operations]) => [
      resource,
      Object.fromEntries(Object.entries(operations).map(([name, endpoint]) => [name, call(endpoint)])),
    ]),
  ) as unknown as Calls<R>
}

async function* readStream(open: () => Promise<Response>, onUnreadable?: () => void) {
  const { readEvents } = await import('./events.ts')
  yield* readEvents(open, streamError, onUnreadable)
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
      `The response is ${type || 'untyped'} instead of JSON, so this is not the service`,
    )
  const text = await response.text().catch((cause: unknown) => {
    if (isAbort(cause)) throw cause
    throw new ApiError('unreachable', response.status, 'The service closed the connection during its response', {
      cause,
    })
  })
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch (cause) {
    throw new ApiError('bad_upstream', response.status, 'The response is not valid JSON, so this is not the service', {
      cause,
    })
  }
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer
  throw new ApiError('bad_upstream', response.status, 'The response is not a JSON object, so this is not the service')
}

const isAbort = (error: unknown) => error instanceof Error && error.name === 'AbortError'
