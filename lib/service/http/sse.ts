import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { errorStatus } from '#lib/contract/errors.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

const keepAliveMs = 15_000

interface EventStream<T> {
  response: ServerResponse
  source: AsyncIterable<T>
  requestId: string
  /** Aborted when the client leaves, or when the service stops. */
  signal: AbortSignal
  /** The event in its framing. */
  encode: (event: T) => string
  toServiceError: (error: unknown) => ServiceError
}

/**
 * Writes each item of `source` as one data-only event until it ends or the client leaves, never ahead of what the
 * client takes. The source is told to stop in every case.
 */
export const sendEvents = async <T>(stream: EventStream<T>) => {
  const { response, requestId, signal, toServiceError } = stream
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    // no-transform: a proxy that compresses would hold events back.
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  })
  response.write(': connected\n\n')
  const keepAlive = setInterval(() => response.write(': keep-alive\n\n'), keepAliveMs)
  try {
    await ask(stream)
    // Unspecified: how a stopping service ends a stream. A clean end would mean that the stream is complete, and on 408
    // the public clients connect again.
    if (signal.aborted)
      writeError(
        response,
        signal.reason instanceof ServiceError
          ? signal.reason
          : new ServiceError('timeout', 'The service is stopping; connect again'),
      )
  } catch (error) {
    writeError(response, toServiceError(error))
  } finally {
    clearInterval(keepAlive)
    response.end()
  }
}

const ask = async <T>({ response, source, signal, encode }: EventStream<T>) => {
  const iterator = source[Symbol.asyncIterator]()
  const orAborted = abortable(signal)
  let gathered = ''
  const write = () => {
    if (gathered !== '' && !response.destroyed) response.write(gathered)
    gathered = ''
  }
  try {
    while (!signal.aborted) {
      const next = await orAborted(iterator.next())
      if (next === undefined || next.done) break
      // What the source has at once is written at once: whoever passes the stream on takes each write by itself.
      if (gathered === '') process.nextTick(write)
      gathered += encode(next.value)
      if (gathered.length >= response.writableHighWaterMark) write()
      if (response.writableNeedDrain) await orAborted(once(response, 'drain'))
    }
  } finally {
    write()
    // Not awaited: a generator that waits for its next event returns only after that event.
    iterator.return?.().catch(() => undefined)
  }
}

const writeError = (response: ServerResponse, { code, message }: ServiceError) => {
  if (!response.destroyed)
    response.write(`event: error\ndata: ${JSON.stringify({ code: String(errorStatus[code]), message })}\n\n`)
}

/**
 * Settles like the promise it is given, or with undefined once the signal is aborted. One listener serves all calls:
 * a Promise.race per event against one promise that lasts as long as the stream would keep every event in memory.
 */
const abortable = (signal: AbortSignal) => {
  let giveUp: (() => void) | undefined
  signal.addEventListener('abort', () => giveUp?.(), { once: true })
  return <T>(promise: Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      giveUp = () => resolve(undefined)
      promise.then(resolve, reject)
    })
}
