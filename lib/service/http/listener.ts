import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import { type Admission, admit } from './admit.ts'
import { checkAnswer } from './answer-check.ts'
import { type LogError, sendError, sendJson, toServiceError } from './error-response.ts'
import { RepeatedCalls } from './repeated-calls.ts'
import { requestIdOf } from './request-id.ts'
import { sendEvents } from './sse.ts'
import { UnderWay } from './under-way.ts'

export interface ListenerContext extends Admission {
  /** Whether every JSON answer and event is checked against the contract before it leaves. */
  validateAnswers: boolean
  /** Aborted when the service stops: ends the open streams. */
  stopping: AbortSignal
  log: LogError
  otherHosts?: OtherHosts
  /** Why no call can be answered now. */
  problem?: () => string | undefined
}

/** Answers the requests under host names that do not mean the service itself. */
export interface OtherHosts {
  takes: (request: IncomingMessage) => boolean
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>
}

/** Answers every request but upgrades, whatever happens, and never throws. */
export const createListener = (context: ListenerContext) => {
  const underWay = new UnderWay()
  const repeated = new RepeatedCalls()
  return async (request: IncomingMessage, response: ServerResponse) => {
    if (!context.stopping.aborted && context.otherHosts?.takes(request))
      return context.otherHosts.answer(request, response)
    const requestId = requestIdOf(request)
    let operation = 'unknown'
    let countOut = () => {}
    let isOver = false
    const asServiceError = (error: unknown): ServiceError => toServiceError(error, requestId, operation, context.log)
    const gone = new AbortController()
    response.once('close', () => {
      isOver = true
      countOut()
      if (!response.writableFinished) gone.abort()
    })
    response.on('error', () => gone.abort())
    try {
      if (context.stopping.aborted)
        // Long enough for a restart: over HTTP/2 the public clients hang for a while when no service listens.
        throw new ServiceError('unavailable', 'The service is stopping', { retryAfterSeconds: 3 })
      const problem = context.problem?.()
      if (problem !== undefined) throw new ServiceError('unavailable', problem, { shouldRetry: false })
      const { endpoint, identity, input, call } = await admit(request, requestId, context)
      operation = endpoint.id
      const kind = endpoint.response.kind === 'events' ? 'streams' : 'calls'
      countOut = underWay.countIn(identity.account, kind)
      if (isOver) countOut()
      if (endpoint.response.kind === 'websocket')
        throw invalid({ field: 'upgrade', message: 'is missing; this address is a WebSocket' })
      const checked = (json: string) => {
        if (context.validateAnswers) checkAnswer(endpoint, json)
        return json
      }
      const toJson = (value: unknown) => {
        if (!(value instanceof Uint8Array)) return checked(JSON.stringify(value))
        if (context.validateAnswers) checked(Buffer.from(value).toString())
        return value
      }
      const encode = (event: unknown) => `data: ${checked(JSON.stringify(event))}\n\n`
      const key = repeated.keyOf(request, requestId, endpoint, { account: identity.account, input })
      if (key !== undefined) {
        const sent = await repeated.once(key, async () => {
          const headers: [string, string][] = []
          const setHeader = (name: string, value: string) => void headers.push([name, value])
          return { json: toJson(await call({ signal: gone.signal, setHeader })), headers }
        })
        for (const [name, value] of sent.headers) response.setHeader(name, value)
        return sendJson(response, 200, sent.json, requestId)
      }
      const answer = await call({ signal: gone.signal, setHeader: (name, value) => response.setHeader(name, value) })
      if (endpoint.response.kind === 'json') sendJson(response, 200, toJson(answer), requestId)
      else if (endpoint.response.kind === 'events') {
        const ends = [gone.signal, context.stopping, ...(identity.revoked ? [identity.revoked] : [])]
        const signal = AbortSignal.any(ends)
        const source = answer as AsyncIterable<unknown>
        await sendEvents({ response, source, requestId, signal, encode, toServiceError: asServiceError })
        // Ends a source that waits for its next event.
        gone.abort()
      } else {
        response.setHeader('content-type', endpoint.response.contentType)
        response.setHeader('x-content-type-options', 'nosniff')
        response.setHeader('x-request-id', requestId)
        await pipeline(answer as AsyncIterable<Uint8Array>, response)
      }
    } catch (error) {
      // The client disconnected: it gets no answer, and that is not an error to log.
      if (gone.signal.aborted && isDisconnect(error, gone.signal)) return
      const failure = asServiceError(error)
      // Once a part of the answer was sent, only a cut connection can show that it is incomplete.
      if (response.headersSent) response.destroy()
      else if (!response.destroyed) {
        // The handler's headers were for its own answer.
        for (const name of response.getHeaderNames()) response.removeHeader(name)
        leaveBodyUnread(request)
        sendError(response, failure, requestId)
      }
    }
  }
}

const isDisconnect = (error: unknown, { reason }: AbortSignal) =>
  error === reason || (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE'

/** For how long the rest of a request is read and dropped. */
const maxUnreadMs = 30_000

/**
 * For an answer that comes before the body is complete: closing the connection on unread bytes would reset it and the
 * answer could be lost. On HTTP/1.1 the rest of the body is read and dropped for a while.
 */
const leaveBodyUnread = (request: IncomingMessage) => {
  if (request.complete) return
  if (request.httpVersionMajor === 2) {
    const { stream } = request as unknown as Http2ServerRequest
    // The response is finished only once the stream is closed, which a client that sends no more never does.
    return stream.once('finish', () => stream.close())
  }
  const timer = setTimeout(() => request.socket.destroy(), maxUnreadMs)
  request.unpipe()
  request.once('close', () => clearTimeout(timer)).resume()
}
