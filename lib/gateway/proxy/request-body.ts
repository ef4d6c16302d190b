import { Readable } from 'node:stream'
import { bodyLimit, defaultMaxBodyBytes, type Endpoint } from '#lib/contract/endpoint.ts'
import { bodyTooLarge, readBody, requireBodyType } from '../http/json-body.ts'

interface UpstreamBody {
  type?: string
  body: Uint8Array | Readable | null
}

/** The body to send to the service. Only endpoints with large bodies stream; others are read whole first. */
export const upstreamBody = async (endpoint: Endpoint, request: Request): Promise<UpstreamBody> => {
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
