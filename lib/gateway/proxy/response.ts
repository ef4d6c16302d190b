import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { readError } from '#lib/client/api-error.ts'
import type { ErrorBody } from '#lib/contract/common.ts'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { HttpError, json } from '../http/handle-request.ts'
import { registry } from '../registry/registry.ts'
import { containsJobConfig, maskResponse } from './masking.ts'

export type UpstreamResponse = Dispatcher.ResponseData

const forwardedHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-disposition',
  'retry-after',
  'deprecation',
  'x-should-retry',
  'x-request-id',
]

export const isOk = ({ statusCode }: UpstreamResponse) => statusCode >= 200 && statusCode < 300

const pickHeaders = (upstream: UpstreamResponse, names: readonly string[]): Headers => {
  const headers = new Headers()
  for (const name of names) {
    const value = upstream.headers[name]
    if (value !== undefined) headers.set(name, String(value))
  }
  return headers
}

/** The service's response as the page receives it. Throws when whatever responded is not the service. */
export const toPageResponse = async (
  endpoint: Endpoint,
  upstream: UpstreamResponse,
  { requestId, account }: { requestId: string; account: string },
): Promise<Response> => {
  const problem = unexpectedResponse(endpoint, upstream)
  if (problem) {
    upstream.body.on('error', () => undefined).destroy()
    throw new HttpError('bad_upstream', problem)
  }
  if (!isOk(upstream)) return errorResponse(upstream, requestId)
  const { kind } = endpoint.response
  const headers = pickHeaders(upstream, forwardedHeaders)
  if (!headers.has('x-request-id')) headers.set('x-request-id', requestId)
  headers.set('x-content-type-options', 'nosniff')
  headers.set('cache-control', 'no-store')
  if (kind === 'events') {
    // Keeps intermediaries from buffering events.
    headers.set('cache-control', 'no-cache, no-transform')
    headers.set('x-accel-buffering', 'no')
  }
  if (kind === 'bytes') {
    headers.set('content-security-policy', 'sandbox')
    if (!/^attachment\b/i.test(headers.get('content-disposition') ?? ''))
      headers.set('content-disposition', 'attachment')
    headers.set('cache-control', 'no-store, no-transform')
  }
  if (kind === 'json' && containsJobConfig(endpoint.path)) {
    headers.delete('content-length')
    return new Response(await maskResponse(await upstream.body.text(), account), {
      status: upstream.statusCode,
      headers,
    })
  }
  // With these statuses, Response rejects any body, even an empty one.
  const body = [204, 205].includes(upstream.statusCode) ? null : (Readable.toWeb(upstream.body) as ReadableStream)
  return new Response(body, { status: upstream.statusCode, headers })
}

const unexpectedResponse = ({ response }: Endpoint, upstream: UpstreamResponse): string | undefined => {
  const url = registry().service.url()
  const { statusCode: status } = upstream
  const type = String(upstream.headers['content-type'] ?? '')
  if (status < 200 || (status >= 300 && status < 400))
    return `The service at ${url} returned a redirect (${status}), which the console does not follow with a key`
  if (/^(text\/html|application\/xhtml)/i.test(type))
    return `${url} is not the service: it returned a web page (${status})`
  if (!isOk(upstream)) return undefined
  const expected = { json: 'application/json', events: 'text/event-stream', bytes: '', websocket: '' }[response.kind]
  if (!type.toLowerCase().startsWith(expected))
    return `The service at ${url} returned ${type || 'no content type'} instead of ${expected}`
  return undefined
}

const errorResponse = async (upstream: UpstreamResponse, requestId: string): Promise<Response> => {
  const { statusCode: status } = upstream
  const original = new Response(await readErrorBody(upstream), { status })
  const { code, message, field, requestId: given = requestId } = await readError(original)
  const body: ErrorBody = { code, message, request_id: given, ...(field === undefined ? {} : { field }) }
  const headers = pickHeaders(upstream, ['retry-after', 'x-should-retry'])
  headers.set('x-request-id', given)
  return json(status === 401 ? { ...body, code: 'unauthenticated' } : body, {
    status,
    headers: Object.fromEntries(headers),
  })
}

const maxErrorBytes = 64 * 1024

/** Undefined when the body is too long or not valid gzip. */
const readErrorBody = async ({ headers, body }: UpstreamResponse): Promise<Buffer<ArrayBuffer> | undefined> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxErrorBytes) return undefined
  }
  const bytes = Buffer.concat(chunks)
  if (headers['content-encoding'] !== 'gzip') return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: maxErrorBytes })
  } catch {
    return undefined
  }
}
