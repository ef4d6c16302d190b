import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { readError } from '#lib/client/api-error.ts'
import type { ErrorBody } from '#lib/contract/common.ts'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { HttpError, json } from '../http/handle-request.ts'
import { registry } from '../registry/registry.ts'
import { containsJobConfig, maskResponse } from './masking.ts'

export type Answer = Dispatcher.ResponseData

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

export const isOk = ({ statusCode }: Answer) => statusCode >= 200 && statusCode < 300

const headersOf = (upstream: Answer, names: readonly string[]): Headers => {
  const headers = new Headers()
  for (const name of names) {
    const value = upstream.headers[name]
    if (value !== undefined) headers.set(name, String(value))
  }
  return headers
}

/** The answer of the service as the page gets it. Throws an HttpError where what came is no answer of the service. */
export const toPageResponse = async (
  endpoint: Endpoint,
  upstream: Answer,
  { requestId, account }: { requestId: string; account: string },
): Promise<Response> => {
  const problem = wrongAnswer(endpoint, upstream)
  if (problem) {
    upstream.body.on('error', () => undefined).destroy()
    throw new HttpError('bad_upstream', problem)
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
  if (endpoint.response.kind === 'json' && containsJobConfig(endpoint.path)) {
    headers.delete('content-length')
    return new Response(await maskResponse(await upstream.body.text(), account), {
      status: upstream.statusCode,
      headers,
    })
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
