import { defaultMaxBodyBytes } from '#lib/contract/endpoint.ts'
import { HttpError } from './handle-request.ts'

const jsonType = /^application\/json *(;|$)/i

export const readJsonBody = async (request: Request, maxBytes?: number): Promise<unknown> => {
  const bytes = await readBody(request, maxBytes)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const body: unknown = JSON.parse(text)
    if (!protoKey.test(text)) return body
  } catch {
    throw new HttpError('invalid_argument', 'The body is not valid JSON')
  }
  // Schemas drop it without an error, which would widen a filter.
  throw new HttpError('invalid_argument', '__proto__ is not a valid key')
}

const protoKey = /"__proto__"\s*:/

/** The bytes of a JSON request body, empty if there is none. Rejects other types, compressed and oversized bodies. */
export const readBody = async (request: Request, maxBytes = defaultMaxBodyBytes): Promise<Uint8Array<ArrayBuffer>> => {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw bodyTooLarge(maxBytes)
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of request.body ?? []) {
      length += chunk.byteLength
      if (length > maxBytes) throw bodyTooLarge(maxBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof HttpError ? error : new HttpError('invalid_argument', 'The body is incomplete')
  }
  if (length === 0) return new Uint8Array()
  requireBodyType(request, jsonType, 'application/json')
  return Buffer.concat(chunks, length)
}

export const requireBodyType = ({ headers }: Request, pattern = jsonType, name = 'application/json'): void => {
  if (!pattern.test(headers.get('content-type') ?? ''))
    throw new HttpError('unsupported_media_type', `Send the body as ${name}`)
  if (headers.has('content-encoding')) throw new HttpError('unsupported_media_type', 'The body must not be compressed')
}

export const bodyTooLarge = (maxBytes: number) =>
  new HttpError('payload_too_large', `The body is larger than ${maxBytes} bytes`)
