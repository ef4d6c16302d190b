import { Readable } from 'node:stream'
import { type Dispatcher, errors, request } from 'undici'
import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { devboxes } from '#lib/contract/devboxes.ts'
import { bodyLimit, type Endpoint } from '#lib/contract/endpoint.ts'
import { valuesOfHeader } from '#lib/protocol/mask.ts'
import { requireSignedIn } from '../accounts/session-cookie.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { recordActivity } from '../activity/activity.ts'
import { onDevboxStopped, onKeepAlive } from '../alerts/alert-books.ts'
import { HttpError, handleRequest } from '../http/handle-request.ts'
import { type ReadHeader, requireSameOrigin } from '../http/origin.ts'
import { outgoingBody, readJsonBody } from '../http/request-body.ts'
import { acquireSlot, concurrencyError } from '../limits/concurrency-limit.ts'
import { registry, trackStream } from '../registry/registry.ts'
import { bearer, onKeyAccepted } from '../upstream/client.ts'
import { unreachable } from '../upstream/unreachable.ts'
import { acceptsJobConfig, containsJobConfig, rejectMasks, restoreMaskedValues } from './masking.ts'
import { type Answer, isOk, toPageResponse } from './response.ts'
import { matchTarget, servicePath } from './target.ts'

/** Until the headers of the answer. The service may hold a write back for 30 s, and a synchronous command longer. */
const readTimeoutMs = 15_000
const writeTimeoutMs = 120_000
/** The trials of a large job are all kept before its import is answered; ten thousand took two minutes on a busy machine. */
const importTimeoutMs = 30 * 60_000

/**
 * `/api/v1/*`: one pass-through for exactly the operations of the contract a browser may use. The session's cookie
 * becomes the bearer key; nothing else of the browser's headers gets out, and nothing unasked of the service's gets in.
 */
export const proxy = (asked: Request): Promise<Response> =>
  handleRequest(asked, async (requestId) => {
    const header = (name: string) => asked.headers.get(name)
    const target = matchTarget(asked)
    const { endpoint, params } = target
    const streams = endpoint.response.kind === 'events'
    requireSameOrigin(header, asked.method === 'GET' ? (streams ? 'stream' : 'read') : 'write')
    const session = await requireSignedIn(header)
    if (endpoint.returnsCredential)
      throw new HttpError(
        'forbidden',
        'The answer is a credential, which the console keeps on its server; ask the service itself for it',
      )
    const url = registry().service.url() + servicePath(target)
    const countOut = acquireSlot(session.account.id, streams ? 'streams' : 'calls')
    if (!countOut) throw concurrencyError(streams ? 'streams' : 'calls')
    asked.signal.addEventListener('abort', countOut)
    try {
      const { body, type } = await bodyFor(endpoint, asked, session)

      const leaving = new AbortController()
      const forget = streams ? trackStream(session, { end: () => leaving.abort() }) : () => undefined
      const upstream = await send(url, timeoutOf(endpoint), {
        method: asked.method as Dispatcher.HttpMethod,
        headers: {
          accept: streams ? 'text/event-stream' : (header('accept') ?? '*/*'),
          // The body is passed on as it comes, so the browser has to understand it. Streams are not packed, which delays them.
          'accept-encoding': allowsCompressed(endpoint) && acceptsGzip(header) ? 'gzip' : 'identity',
          'user-agent': 'devdeck',
          'x-request-id': requestId,
          ...(type === undefined ? {} : { 'content-type': type }),
          ...bearer(session.api_key),
        },
        body,
        signal: AbortSignal.any([asked.signal, leaving.signal]),
      }).catch((error: unknown) => {
        forget()
        throw error
      })
      upstream.body.once('close', () => {
        forget()
        countOut()
      })
      if (isOk(upstream)) onKeyAccepted(session.api_key)
      if (isOk(upstream) && endsEvictions.has(endpoint.id) && params.id)
        onDevboxStopped(session, endpoint.id, params.id)
      if (isOk(upstream) && endpoint.id === devboxes.keepAlive.id && params.id)
        onKeepAlive(session.account.id, params.id)
      const answer = await toPageResponse(endpoint, upstream, { requestId, account: session.account.id })
      recordActivity({ endpoint, params, session, header, body }, answer)
      // An answer without a body has no reader that would end the call.
      if (answer.body === null) countOut()
      return answer
    } catch (error) {
      countOut()
      throw error
    }
  })

/** Masks in it are refused, or filled in from the job that the page names. */
const bodyFor = async (endpoint: Endpoint, asked: Request, session: KeyHolder) => {
  if (!acceptsJobConfig(endpoint)) return outgoingBody(endpoint, asked)
  const madeFrom = asked.headers.get(valuesOfHeader)
  if (madeFrom !== null && endpoint.id === benchmarkJobs.create.id) {
    const filled = await restoreMaskedValues(await readJsonBody(asked, bodyLimit(endpoint)), session, madeFrom)
    return { type: 'application/json', body: Buffer.from(JSON.stringify(filled)) }
  }
  const { body, ...rest } = await outgoingBody(endpoint, asked)
  return {
    ...rest,
    body: body && Readable.from(rejectMasks(body instanceof Readable ? body : [body]), { objectMode: false }),
  }
}

const allowsCompressed = ({ path, response }: Endpoint) => response.kind === 'json' && !containsJobConfig(path)

const acceptsGzip = (header: ReadHeader) => /\bgzip\b(?! *; *q=0)/.test(header('accept-encoding') ?? '')

const endsEvictions = new Set<string>([devboxes.suspend.id, devboxes.shutdown.id])

type Outgoing = Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'> & { signal: AbortSignal }

const timeoutOf = ({ id, method }: Endpoint): number => {
  if (id === benchmarkJobs.import.id) return importTimeoutMs
  return method === 'GET' ? readTimeoutMs : writeTimeoutMs
}

/** Fails when no headers come in time after the body has gone out. The body of the answer may take any time. */
const send = async (url: string, timeoutMs: number, outgoing: Outgoing): Promise<Answer> => {
  try {
    return await request(url, { ...outgoing, dispatcher: registry().upstream, headersTimeout: timeoutMs })
  } catch (error) {
    if (error instanceof HttpError) throw error
    // The browser has gone, so this answer is not read.
    if (outgoing.signal.aborted) throw new HttpError('unavailable', 'The request was given up')
    if (error instanceof errors.HeadersTimeoutError)
      throw new HttpError(
        'unavailable',
        `The service at ${registry().service.url()} did not answer within ${timeoutMs / 1000} s`,
        // Pages repeat a failed read at once unless told when. After a wait this long they should show the failure first.
        { retryAfterSeconds: 3 },
      )
    throw new HttpError('unavailable', unreachable(registry().service.url(), error))
  }
}
