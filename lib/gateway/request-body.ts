import { Refusal } from './answer.ts'

const maxBodyBytes = 1024 * 1024

/** The bytes of a JSON request body; empty when there is none. Refuses what is not declared as JSON, packed or too long. */
export const readBody = async (request: Request): Promise<Uint8Array<ArrayBuffer>> => {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > maxBodyBytes) throw tooLarge()
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength
    if (length > maxBodyBytes) throw tooLarge()
    chunks.push(chunk)
  }
  if (length === 0) return new Uint8Array()
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json *(;|$)/i.test(type))
    throw new Refusal('unsupported_media_type', 'The body must be sent as application/json')
  if (request.headers.has('content-encoding'))
    throw new Refusal('unsupported_media_type', 'The body must not be compressed')
  const body = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.byteLength
  }
  return body
}

export const readJsonBody = async (request: Request): Promise<unknown> => {
  const bytes = await readBody(request)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Refusal('invalid_argument', 'The body is not valid JSON')
  }
}

const tooLarge = () => new Refusal('payload_too_large', `The body is longer than ${maxBodyBytes} bytes`)
