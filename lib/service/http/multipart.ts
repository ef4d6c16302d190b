import { randomBytes } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { maxFormEnvelopeBytes } from '#lib/contract/endpoint.ts'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import { requirePlain } from './body.ts'

const limits = { fieldSize: 64 * 1024, fields: 16, files: 1, parts: 20, headerPairs: 32, headerSize: 16 * 1024 }
/** A body of which nothing arrives for two of these is refused, unless it is paused on this side. */
const idleTickMs = 15_000

export interface Form {
  /** The text parts by name. */
  fields: Record<string, string>
  /** The bytes of the part `file`. It ends once the whole form has arrived and is valid, and throws otherwise. */
  file: AsyncIterable<Uint8Array>
  /** Drops what was not read. To be called in every case. */
  discard: () => Promise<void>
}

interface Options {
  /** Of the file. */
  maxBytes: number
  /** Whether these text parts are all that is needed to take the file as it comes. */
  isComplete: (fields: Record<string, string>) => boolean
  /** For a file that comes before the text parts it belongs to. */
  spoolFolder: string
}

/** The form of the body, its file still to be read. Throws 400, 408, 413 or 415. */
export const readForm = (request: IncomingMessage, options: Options): Promise<Form> => {
  const type = request.headers['content-type'] ?? ''
  requirePlain(request)
  if (!/^multipart\/form-data *(;|$)/i.test(type))
    throw new ServiceError('unsupported_media_type', 'The body must be a form (Content-Type: multipart/form-data)')
  if (Number(request.headers['content-length'] ?? 0) > options.maxBytes + maxFormEnvelopeBytes)
    throw tooLarge(options.maxBytes)
  const { promise, resolve, reject } = Promise.withResolvers<Form>()
  const parser = makeParser(request, type, options.maxBytes)
  const whole = arrival(request, parser, options.maxBytes)
  // A failure reaches the reader of the file; without a file it is this call's.
  whole.catch(reject)
  const fields = new Map<string, string>()
  let hasFile = false
  parser.on('field', (name, value, _, truncated) => {
    if (truncated) parser.destroy(invalid({ field: name, message: 'is too long' }))
    else if (fields.has(name)) parser.destroy(invalid({ field: name, message: 'is there twice' }))
    else fields.set(name, value)
  })
  parser.on('file', (_, stream) => {
    hasFile = true
    stream.once('limit', () => parser.destroy(tooLarge(options.maxBytes)))
    // When a form ends too early the parser reports it on its open file alone.
    stream.on('error', () => parser.destroy(broken()))
    whole.catch((error: Error) => stream.destroy(error))
    const file = untilWhole(stream, whole)
    const known = Object.fromEntries(fields)
    if (options.isComplete(known)) resolve({ fields: known, file, discard: async () => void parser.destroy() })
    else
      spool(file, options.spoolFolder, reject).then(
        (spooled) => resolve({ fields: Object.fromEntries(fields), ...spooled }),
        reject,
      )
  })
  whole.then(() => {
    if (!hasFile) reject(invalid({ field: 'file', message: 'is missing' }))
  }, reject)
  return promise
}

const makeParser = (request: IncomingMessage, type: string, maxBytes: number) => {
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': type },
      // One byte more, so that the longest file allowed does not meet the limit.
      limits: { ...limits, fileSize: maxBytes + 1 },
      isPartAFile: (name) => name === 'file',
    })
  } catch {
    throw invalid({ field: 'body', message: 'is a form without a boundary' })
  }
}

/** Feeds the parser; resolves when the form is complete and its parser has seen the end of it. */
const arrival = (request: IncomingMessage, parser: BusboyInstance, maxBytes: number): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let size = 0
  let idleTicks = 0
  const settle = (error?: Error) => {
    clearInterval(clock)
    request.off('data', onData).off('close', onClose)
    request.unpipe(parser)
    if (error) reject(error)
    else resolve()
  }
  const onData = (chunk: Buffer) => {
    idleTicks = 0
    size += chunk.length
    if (size > maxBytes + maxFormEnvelopeBytes) parser.destroy(tooLarge(maxBytes))
  }
  const onClose = () => {
    if (!request.readableEnded)
      parser.destroy(new ServiceError('timeout', 'The request ended before its body was complete'))
  }
  const clock = setInterval(() => {
    idleTicks = request.isPaused() ? 0 : idleTicks + 1
    if (idleTicks >= 2)
      parser.destroy(new ServiceError('timeout', 'The body took too long to arrive', { shouldRetry: false }))
  }, idleTickMs)
  for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const)
    parser.once(limit, () => parser.destroy(invalid({ field: 'body', message: 'has more parts than it may have' })))
  // The parser may fail more than once, and an `error` without a listener would end the service.
  parser.on('error', (error) => settle(error instanceof ServiceError ? error : broken()))
  parser.once('finish', () => settle())
  request.on('data', onData).once('close', onClose).once('error', onClose)
  // The parser may take any time to hand on what has arrived.
  request.once('end', () => clearInterval(clock))
  request.pipe(parser)
  return promise
}

async function* untilWhole(stream: Readable, whole: Promise<void>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } catch (error) {
    // The error of the form tells more than that of its file.
    await whole
    throw error
  }
  await whole
}

/**
 * Keeps the file until the form is complete. It is unlinked at once, so nothing is left behind after a crash. `refuse`
 * is called with the reason when it cannot be kept, before that breaks off the form.
 */
const spool = async (
  content: AsyncIterable<Uint8Array>,
  folder: string,
  refuse: (error: unknown) => void,
): Promise<Pick<Form, 'file' | 'discard'>> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, randomBytes(12).toString('hex'))
  const kept = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    for await (const chunk of content)
      await kept.writeFile(chunk).catch((error: unknown) => {
        refuse(error)
        throw error
      })
  } catch (error) {
    await kept.close()
    throw error
  }
  const file = kept.createReadStream({ start: 0, highWaterMark: 256 * 1024, autoClose: false })
  return { file, discard: () => kept.close() }
}

const broken = () => invalid({ field: 'body', message: 'is not a complete form' })

const tooLarge = (maxBytes: number) =>
  new ServiceError('payload_too_large', `The file is larger than ${maxBytes} bytes`)
