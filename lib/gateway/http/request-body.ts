import { bodyLimit, defaultMaxBodyBytes, type Endpoint } from '#lib/contract/endpoint.ts'
import { Refusal } from './answer.ts'

/** What goes up to the service in place of the browser's body. */
export interface OutgoingBody {
  headers: Record<string, string>
  /** Calls `arrived` for each piece of a body that is passed on as it comes. */
  open: (arrived: () => void) => Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
  /** What fetch is to be told besides. */
  init: { duplex?: 'half'; redirect?: 'error'; window?: null }
  /** Why the rest of it was not passed on. */
  refusal: () => Refusal | undefined
}

/** The body for a call of `endpoint`. Only one that may be large is passed on before the whole of it is here. */
export const outgoingBody = async (endpoint: Endpoint, request: Request): Promise<OutgoingBody> => {
  const limit = bodyLimit(endpoint)
  const isEmpty = !request.body || request.headers.get('content-length') === '0'
  if (limit > defaultMaxBodyBytes && !isEmpty) return passedOn(endpoint, request, limit)
  const bytes = request.method === 'GET' ? new Uint8Array() : await readBody(request)
  return {
    headers: bytes.byteLength > 0 ? { 'content-type': 'application/json' } : {},
    open: () => (bytes.byteLength > 0 ? bytes : null),
    init: {},
    refusal: () => undefined,
  }
}

const passedOn = ({ bodyFormat }: Endpoint, request: Request, limit: number): OutgoingBody => {
  const type = request.headers.get('content-type') ?? ''
  const isForm = bodyFormat === 'multipart'
  if (isForm ? !/^multipart\/form-data *;/i.test(type) : !/^application\/json *(;|$)/i.test(type))
    throw new Refusal(
      'unsupported_media_type',
      `The body must be sent as ${isForm ? 'multipart/form-data' : 'application/json'}`,
    )
  refusePacked(request)
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit)
  let refusal: Refusal | undefined
  return {
    headers: { 'content-type': type },
    open: (arrived) => {
      const reader = request.body?.getReader()
      let length = 0
      return new ReadableStream({
        async pull(controller) {
          const next = await reader?.read()
          if (!next?.value) return controller.close()
          arrived()
          length += next.value.byteLength
          if (length > limit) {
            refusal = tooLarge(limit)
            controller.error(refusal)
          } else controller.enqueue(next.value)
        },
        // Whoever answers the browser reads on: to cancel the rest would cut the connection before the answer is heard.
      })
    },
    // Without these two fetch keeps all that it sends, to send it again after a redirect.
    init: { duplex: 'half', redirect: 'error', window: null },
    refusal: () => refusal,
  }
}

/** The bytes of a JSON request body; empty when there is none. Refuses what is not declared as JSON, packed or too long. */
const readBody = async (request: Request): Promise<Uint8Array<ArrayBuffer>> => {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > defaultMaxBodyBytes) throw tooLarge(defaultMaxBodyBytes)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength
    if (length > defaultMaxBodyBytes) throw tooLarge(defaultMaxBodyBytes)
    chunks.push(chunk)
  }
  if (length === 0) return new Uint8Array()
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json *(;|$)/i.test(type))
    throw new Refusal('unsupported_media_type', 'The body must be sent as application/json')
  refusePacked(request)
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

const refusePacked = (request: Request) => {
  if (request.headers.has('content-encoding'))
    throw new Refusal('unsupported_media_type', 'The body must not be compressed')
}

const tooLarge = (limit: number) => new Refusal('payload_too_large', `The body is longer than ${limit} bytes`)
