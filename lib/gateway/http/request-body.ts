import { Readable } from 'node:stream'
import { bodyLimit, defaultMaxBodyBytes, type Endpoint } from '#lib/contract/endpoint.ts'
import { HttpError } from './handle-request.ts'

/** The body that is sent to the service. */
interface OutgoingBody {
  type?: string
  body: Uint8Array | Readable | null
}

/** The body for a call of `endpoint`. Only one that may be large is passed on before the whole of it is here. */
export const outgoingBody = async (endpoint: Endpoint, request: Request): Promise<OutgoingBody> => {
  const limit = bodyLimit(endpoint)
  const isEmpty = !request.body || request.headers.get('content-length') === '0'
  if (limit > defaultMaxBodyBytes && !isEmpty) return passedOn(endpoint, request, limit)
  const bytes = request.method === 'GET' ? new Uint8Array() : await readBody(request)
  return bytes.byteLength > 0 ? { type: 'application/json', body: bytes } : { body: null }
}

const passedOn = ({ bodyFormat }: Endpoint, request: Request, limit: number): OutgoingBody => {
  const type = request.headers.get('content-type') ?? ''
  const isForm = bodyFormat === 'multipart'
  if (isForm ? !/^multipart\/form-data *;/i.test(type) : !/^application\/json *(;|$)/i.test(type))
    throw new HttpError(
      'unsupported_media_type',
      `The body must be sent as ${isForm ? 'multipart/form-data' : 'application/json'}`,
    )
  refusePacked(request)
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit)
  return { type, body: Readable.from(upTo(limit, request), { objectMode: false }) }
}

async function* upTo(limit: number, { body }: Request): AsyncGenerator<Uint8Array> {
  let length = 0
  // The server reads the rest of a refused body: to cancel it would cut the connection before the answer arrives.
  for await (const piece of body?.values({ preventCancel: true }) ?? []) {
    length += piece.byteLength
    if (length > limit) throw tooLarge(limit)
    yield piece
  }
}

/** The bytes of a JSON request body; empty when there is none. Refuses other types, packed bodies and long ones. */
const readBody = async (request: Request, maxBytes = defaultMaxBodyBytes): Promise<Uint8Array<ArrayBuffer>> => {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of request.body ?? []) {
      length += chunk.byteLength
      if (length > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof HttpError ? error : new HttpError('invalid_argument', 'The body broke off')
  }
  if (length === 0) return new Uint8Array()
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json *(;|$)/i.test(type))
    throw new HttpError('unsupported_media_type', 'The body must be sent as application/json')
  refusePacked(request)
  return Buffer.concat(chunks, length)
}

export const readJsonBody = async (request: Request, maxBytes?: number): Promise<unknown> => {
  const bytes = await readBody(request, maxBytes)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new HttpError('invalid_argument', 'The body is not valid JSON')
  }
}

const refusePacked = (request: Request) => {
  if (request.headers.has('content-encoding'))
    throw new HttpError('unsupported_media_type', 'The body must not be compressed')
}

const tooLarge = (limit: number) => new HttpError('payload_too_large', `The body is longer than ${limit} bytes`)
