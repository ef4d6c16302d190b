import type { IncomingMessage } from 'node:http'
import { defaultMaxBodyBytes } from '#lib/contract/endpoint.ts'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import { Slots } from '#lib/service/kit/slots.ts'

/** Body timeout, extended for large bodies at this rate. */
const bodyTimeoutMs = 30_000
const minBytesPerMs = 256

/** Parsing a large body takes several times its size in memory, so few are read at once. */
const largeBodies = new Slots(2)

export const readJsonBody = async (request: IncomingMessage, maxBytes = defaultMaxBodyBytes): Promise<unknown> => {
  rejectCompressed(request)
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  const read = async () => parseJson(request, await readBytes(request, maxBytes))
  if (maxBytes === defaultMaxBodyBytes || (announced > 0 && announced <= defaultMaxBodyBytes)) return read()
  const disconnected = new AbortController()
  const onDisconnect = () => disconnected.abort(cutShort())
  request.once('close', onDisconnect)
  return largeBodies.run(disconnected.signal, read).finally(() => request.off('close', onDisconnect))
}

/** Yields the body as it arrives. Throws 408 when the client disconnects or sends nothing for a while. */
export async function* streamBody(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  const announced = request.headers['content-length']
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  let size = 0
  try {
    for (let next = await nextChunk(chunks); !next.done; next = await nextChunk(chunks)) {
      size += next.value.length
      yield next.value
    }
  } finally {
    // Not awaited: it waits for a pending chunk. Without it the rest could not be discarded.
    void chunks.return?.()
  }
  if (announced !== undefined && size !== Number(announced)) throw cutShort()
}

const nextChunk = async (chunks: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer>> => {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new ServiceError('timeout', 'Timed out while reading the body', { shouldRetry: false })),
    bodyTimeoutMs,
  )
  const next = chunks.next().catch(() => {
    throw cutShort()
  })
  return Promise.race([next, timeout]).finally(() => clearTimeout(timer))
}

export const rejectCompressed = ({ headers }: IncomingMessage): void => {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new ServiceError('unsupported_media_type', 'Compressed bodies (Content-Encoding) are not supported')
}

const parseJson = (request: IncomingMessage, bytes: Buffer): unknown => {
  const type = request.headers['content-type']
  const isJson = type !== undefined && /^application\/json *(;|$)/i.test(type)
  if (!isJson && (type !== undefined || bytes.length > 0))
    throw new ServiceError('unsupported_media_type', 'The body must be JSON (Content-Type: application/json)')
  if (bytes.length === 0) return {}
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // Reject unpaired surrogates: the database would store a different text.
    const value: unknown = JSON.parse(text, /\\u[dD]/.test(text) ? wellFormed : undefined)
    rejectDeep(value, maxDepth)
    return value
  } catch {
    throw invalid({ field: 'body', message: 'is not valid JSON or is nested too deeply' })
  }
}

/** The limit for job files; much deeper values overflow the stack. */
const maxDepth = 100

const rejectDeep = (value: unknown, left: number): void => {
  if (typeof value !== 'object' || value === null) return
  if (left === 0) throw new SyntaxError('too deep')
  for (const each of Object.values(value)) rejectDeep(each, left - 1)
}

const wellFormed = (key: string, value: unknown) => {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) throw new SyntaxError('not Unicode')
  return value
}

const tooLarge = (maxBytes: number) =>
  new ServiceError('payload_too_large', `The body is larger than ${maxBytes} bytes`)

const cutShort = () => new ServiceError('timeout', 'The request ended before its body was complete')

const readBytes = (request: IncomingMessage, maxBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (error?: Error) => {
      clearTimeout(timer)
      request.off('data', onData).off('end', settle).off('error', onClose).off('close', onClose)
      if (error instanceof Error) reject(error)
      else resolve(Buffer.concat(chunks, size))
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) settle(tooLarge(maxBytes))
      else chunks.push(chunk)
    }
    const onClose = () => settle(cutShort())
    const startMs = Date.now()
    const onTime = () => {
      const extraMs = size > defaultMaxBodyBytes ? size / minBytesPerMs : 0
      const leftMs = startMs + bodyTimeoutMs + extraMs - Date.now()
      if (leftMs > 0) timer = setTimeout(onTime, leftMs)
      else settle(new ServiceError('timeout', 'Timed out while reading the body', { shouldRetry: false }))
    }
    let timer = setTimeout(onTime, bodyTimeoutMs)
    request.on('data', onData).once('end', settle).once('error', onClose).once('close', onClose)
  })
