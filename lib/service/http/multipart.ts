import { randomBytes } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { maxFormEnvelopeBytes } from '#lib/contract/endpoint.ts'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import { rejectCompressed } from './body.ts'

const limits = { fieldSize: 64 * 1024, fields: 16, files: 1, parts: 20, headerPairs: 32, headerSize: 16 * 1024 }
/** A body is rejected after two ticks without data, unless reading is paused. */
const idleTickMs = 15_000

export interface Form {
  fields: Record<string, string>
  file: AsyncIterable<Uint8Array>
  discard: () => Promise<void>
}

interface Options {
  maxBytes: number
  isComplete: (fields: Record<string, string>) => boolean
  spoolFolder: string
}

export const readForm = (request: IncomingMessage, options: Options): Promise<Form> => {
  const type = request.headers['content-type'] ?? ''
  rejectCompressed(request)
  if (!/^multipart\/form-data *(;|$)/i.test(type))
    throw new ServiceError('unsupported_media_type', 'The body must be a form (Content-Type: multipart/form-data)')
  if (Number(request.headers['content-length'] ?? 0) > options.maxBytes + maxFormEnvelopeBytes)
    throw tooLarge(options.maxBytes)
  const { promise, resolve, reject } = Promise.withResolvers<Form>()
  const parser = makeParser(request, type, options.maxBytes)
  const completed = receiveForm(request, parser, options.maxBytes)
  // Failures go to the file's reader, or reject this call if there is no file.
  completed.catch(reject)
  const fields = new Map<string, string>()
  let hasFile = false
  parser.on('field', (name, value, _, truncated) => {
    if (truncated) parser.destroy(invalid({ field: name, message: 'is too long' }))
    else if (fields.has(name)) parser.destroy(invalid({ field: name, message: 'is duplicated' }))
    else fields.set(name, value)
  })
  parser.on('file', (_, stream) => {
    hasFile = true
    stream.once('limit', () => parser.destroy(tooLarge(options.maxBytes)))
    // For a truncated form the parser only fails the open file.
    stream.on('error', () => parser.destroy(broken()))
    completed.catch((error: Error) => stream.destroy(error))
    const file = streamFile(stream, completed)
    const current = Object.fromEntries(fields)
    if (options.isComplete(current)) resolve({ fields: current, file, discard: async () => void parser.destroy() })
    else
      spool(file, options.spoolFolder, reject).then(
        (spooled) => resolve({ fields: Object.fromEntries(fields), ...spooled }),
        reject,
      )
  })
  completed.then(() => {
    if (!hasFile) reject(invalid({ field: 'file', message: 'is missing' }))
  }, reject)
  return promise
}

const makeParser = (request: IncomingMessage, type: string, maxBytes: number) => {
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': type },
      limits: { ...limits, fileSize: maxBytes + 1 },
      isPartAFile: (name) => name === 'file',
    })
  } catch {
    throw invalid({ field: 'body', message: 'has no multipart boundary' })
  }
}

const receiveForm = (request: IncomingMessage, parser: BusboyInstance, maxBytes: number): Promise<void> => {
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
      parser.destroy(new ServiceError('timeout', 'Timed out while reading the body', { shouldRetry: false }))
  }, idleTickMs)
  for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const)
    parser.once(limit, () => parser.destroy(invalid({ field: 'body', message: 'has too many parts' })))
  // The parser may emit several errors; an unhandled one would crash the service.
  parser.on('error', (error) => settle(error instanceof ServiceError ? error : broken()))
  parser.once('finish', () => settle())
  request.on('data', onData).once('close', onClose).once('error', onClose)
  request.once('end', () => clearInterval(clock))
  request.pipe(parser)
  return promise
}

async function* streamFile(stream: Readable, completed: Promise<void>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } catch (error) {
    await completed
    throw error
  }
  await completed
}

// Buffers the file until the form is complete. Unlinked immediately, so a crash leaves nothing.
const spool = async (
  content: AsyncIterable<Uint8Array>,
  folder: string,
  refuse: (error: unknown) => void,
): Promise<Pick<Form, 'file' | 'discard'>> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, randomBytes(12).toString('hex'))
  const handle = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    for await (const chunk of content)
      await handle.writeFile(chunk).catch((error: unknown) => {
        refuse(error)
        throw error
      })
  } catch (error) {
    await handle.close()
    throw error
  }
  const file = handle.createReadStream({ start: 0, highWaterMark: 256 * 1024, autoClose: false })
  return { file, discard: () => handle.close() }
}

const broken = () => invalid({ field: 'body', message: 'is not a complete form' })

const tooLarge = (maxBytes: number) =>
  new ServiceError('payload_too_large', `The file is larger than ${maxBytes} bytes`)
