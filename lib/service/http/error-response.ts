import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorBody } from '#lib/contract/common.ts'
import { errorStatus } from '#lib/contract/errors.ts'
import { diskFull, isDiskFull, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'

export type LogError = (entry: { request_id: string; operation: string; message: string; stack?: string }) => void

export const sendError = (response: ServerResponse, error: ServiceError, requestId: string) => {
  const body: ErrorBody = { code: error.code, message: error.message, request_id: requestId }
  if (error.field !== undefined) body.field = error.field
  if (error.code === 'unauthenticated') response.setHeader('www-authenticate', 'Bearer')
  if (error.allow !== undefined) response.setHeader('allow', error.allow.join(', '))
  if (error.retryAfterSeconds !== undefined) response.setHeader('retry-after', Math.ceil(error.retryAfterSeconds))
  if (error.shouldRetry !== undefined) response.setHeader('x-should-retry', String(error.shouldRetry))
  sendJson(response, errorStatus[error.code], JSON.stringify(body), requestId)
}

export const sendJson = (response: ServerResponse, status: number, json: string | Uint8Array, requestId: string) => {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(json),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  })
  response.end(json)
}

export const toServiceError = (error: unknown, requestId: string, operation: string, log: LogError): ServiceError => {
  if (error instanceof ServiceError) return error
  const known = temporaryError(error)
  if (known) return known
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  log({ request_id: requestId, operation, message, ...(stack === undefined ? {} : { stack }) })
  return new ServiceError('internal', `Internal error (request ${requestId})`, { cause: error })
}

const temporaryError = (cause: unknown): ServiceError | undefined => {
  if (!(cause instanceof Error)) return undefined
  const { code, errcode = 0 } = cause as { code?: string; errcode?: number }
  if (isDiskFull(cause)) return diskFull(cause)
  if (sqliteLocked.has(errcode & 0xff))
    return new ServiceError('unavailable', 'The database is locked by another process', { retryAfterSeconds: 1, cause })
  if (exhausted.has(code ?? ''))
    return new ServiceError('unavailable', 'The service has reached the limit of open files or processes', {
      retryAfterSeconds: 1,
      cause,
    })
  return undefined
}

const sqliteLocked = new Set([5, 6])
const exhausted = new Set(['EMFILE', 'ENFILE', 'EAGAIN'])

/** The client's `x-request-id` if it is safe to log, otherwise a new one. */
export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const id = headers['x-request-id']
  return typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : newId('req')
}
