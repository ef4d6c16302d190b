import type { IncomingMessage } from 'node:http'
import { ServiceError } from '#lib/service/errors.ts'
import { invalid } from './router.ts'

export const maxBodyBytes = 1024 * 1024

/** How long a body may take to arrive. HTTP/1.1 has its own limit in the server; an HTTP/2 stream has none. */
const bodyTimeoutMs = 30_000

/** The JSON of the body; `{}` when there is none. Throws 400, 408, 413 or 415. */
export const readJsonBody = async (request: IncomingMessage): Promise<unknown> => {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new ServiceError('unsupported_media_type', 'The body must not be compressed (Content-Encoding)')
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge()
  const bytes = await readBytes(request)
  const type = request.headers['content-type']
  const isJson = type !== undefined && /^application\/json *(;|$)/i.test(type)
  if (!isJson && (type !== undefined || bytes.length > 0))
    throw new ServiceError('unsupported_media_type', 'The body must be JSON (Content-Type: application/json)')
  if (bytes.length === 0) return {}
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // Half a surrogate pair, which only an escape can bring: the database would keep another text than was given.
    return JSON.parse(text, /\\u[dD]/.test(text) ? wellFormed : undefined)
  } catch {
    throw invalid({ field: 'body', message: 'is not valid JSON' })
  }
}

const wellFormed = (key: string, value: unknown) => {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) throw new SyntaxError('not Unicode')
  return value
}

const tooLarge = () => new ServiceError('payload_too_large', `The body is larger than ${maxBodyBytes} bytes`)

const readBytes = (request: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (error?: Error) => {
      clearTimeout(timer)
      request.off('data', onData).off('end', settle).off('error', settle).off('close', onClose)
      if (error instanceof Error) reject(error)
      else resolve(Buffer.concat(chunks, size))
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBodyBytes) settle(tooLarge())
      else chunks.push(chunk)
    }
    const onClose = () => settle(new ServiceError('timeout', 'The request ended before its body was complete'))
    const timer = setTimeout(
      () => settle(new ServiceError('timeout', 'The body took too long to arrive', { shouldRetry: false })),
      bodyTimeoutMs,
    )
    request.on('data', onData).once('end', settle).once('error', settle).once('close', onClose)
  })
