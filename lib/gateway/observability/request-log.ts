import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestIdOf } from '../http/handle-request.ts'
import { logInfo } from './log.ts'

export interface Observed {
  method: string
  /** Omits the query and link tokens. */
  path: string
  /** Has few distinct values, for metrics. */
  area: string
  status: number
  durationMs: number
  isComplete: boolean
  requestId: string
}

/** Gives the request an id if it has none, and calls `onEnd` once the response was sent or its client disconnected. */
export const observeRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  onEnd: (observed: Observed) => void,
): void => {
  const startedMs = performance.now()
  const { method = '', url = '/' } = request
  const requestId = requestIdOf(new Headers({ 'x-request-id': String(request.headers['x-request-id'] ?? '') }))
  request.headers['x-request-id'] = requestId
  response.once('close', () => {
    const path = pathOf(url)
    onEnd({
      method,
      path,
      area: areaOf(path),
      status: response.statusCode,
      durationMs: performance.now() - startedMs,
      isComplete: response.writableFinished,
      requestId,
    })
  })
}

export const logRequest = ({ requestId, durationMs, isComplete, area: _, ...rest }: Observed): void => {
  const text = `${rest.method} ${rest.path} ${rest.status} ${Math.round(durationMs)} ms`
  logInfo(isComplete ? text : `${text} (disconnected)`, {
    request_id: requestId,
    ...rest,
    duration_ms: Math.round(durationMs),
  })
}

/** Paths whose next segment is a secret token. */
const tokenPath = /^(\/(?:sign-in|follow|s|api\/follow)\/)[^/]+/

export const pathOf = (url: string): string => (url.split('?', 1)[0] ?? '/').replace(tokenPath, '$1:token')

const areaOf = (path: string): string => {
  const [, first = '', second = ''] = path.split('/')
  if (first === '_next') return 'static'
  return first === 'api' ? `api/${/^[a-z0-9-]{1,24}$/.test(second) ? second : 'other'}` : 'page'
}
