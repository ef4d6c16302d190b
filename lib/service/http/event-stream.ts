import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { errorStatus } from '#lib/contract/errors.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

const keepAliveMs = 15_000

interface EventStream<T> {
  response: ServerResponse
  source: AsyncIterable<T>
  requestId: string
  signal: AbortSignal
  encode: (event: T) => string
  toServiceError: (error: unknown) => ServiceError
}

export const sendEventStream = async <T>(stream: EventStream<T>) => {
  const { response, requestId, signal, toServiceError } = stream
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    // no-transform: compressing proxies would delay events.
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  })
  response.write(': connected\n\n')
  const keepAlive = setInterval(() => response.write(': keep-alive\n\n'), keepAliveMs)
  try {
    await writeEvents(stream)
    // Unspecified: a stopping service ends streams with 408, on which public clients reconnect.
    const stopping = new ServiceError('timeout', 'The service is stopping; reconnect')
    if (signal.aborted) writeError(response, signal.reason instanceof ServiceError ? signal.reason : stopping)
  } catch (error) {
    writeError(response, toServiceError(error))
  } finally {
    clearInterval(keepAlive)
    response.end()
  }
}

const writeEvents = async <T>({ response, source, signal, encode }: EventStream<T>) => {
  const iterator = source[Symbol.asyncIterator]()
  const orAborted = abortable(signal)
  let buffered = ''
  const write = () => {
    if (buffered !== '' && !response.destroyed) response.write(buffered)
    buffered = ''
  }
  try {
    while (!signal.aborted) {
      const next = await orAborted(iterator.next())
      if (next === undefined || next.done) break
      // Combines events that are available at once: thousands of small chunks would take a second.
      if (buffered === '') process.nextTick(write)
      buffered += encode(next.value)
      if (buffered.length >= response.writableHighWaterMark) write()
      if (response.writableNeedDrain) await orAborted(once(response, 'drain'))
    }
  } finally {
    write()
    // Not awaited: a waiting generator only returns after its next event.
    iterator.return?.().catch(() => undefined)
  }
}

const writeError = (response: ServerResponse, { code, message }: ServiceError) => {
  if (!response.destroyed)
    response.write(`event: error\ndata: ${JSON.stringify({ code: String(errorStatus[code]), message })}\n\n`)
}

// Settles like the promise, or with undefined on abort. Racing each event against a long-lived promise would leak it.
const abortable = (signal: AbortSignal) => {
  let giveUp: (() => void) | undefined
  signal.addEventListener('abort', () => giveUp?.(), { once: true })
  return <T>(promise: Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      giveUp = () => resolve(undefined)
      promise.then(resolve, reject)
    })
}
