import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '#lib/contract/common.ts'
import { type ErrorCode, errorStatus } from '#lib/contract/errors.ts'
import { logError } from '../observability/log.ts'
import { currentStore } from '../store/current-store.ts'

/** Thrown to fail a request; `handleRequest` maps it to the API's error format. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly headers: Record<string, string>

  /** Next bundles this module more than once, and each copy must recognize the errors of the others. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'HttpError'
  }

  constructor(
    code: ErrorCode,
    message: string,
    details: { field?: string; retryAfterSeconds?: number; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.code = code
    this.field = details.field
    this.retryAfterSeconds = details.retryAfterSeconds
    this.headers = details.headers ?? {}
  }
}

const saneRequestId = /^[\w.:-]{1,128}$/

/** The caller's request id if it is plain, otherwise a new one. */
export const requestIdOf = (headers: Headers): string => {
  const given = headers.get('x-request-id')
  return given && saneRequestId.test(given) ? given : randomUUID()
}

export const errorBody = ({ code, message, field }: HttpError, requestId: string): ErrorBody => ({
  code,
  message,
  request_id: requestId,
  ...(field === undefined ? {} : { field }),
})

/** Runs a handler and maps what it throws. Unexpected errors are logged and reveal only their request id. */
export const handleRequest = async (
  request: Request,
  answer: (requestId: string) => Promise<Response>,
): Promise<Response> => {
  const requestId = requestIdOf(request.headers)
  try {
    const store = needsStore(request) ? currentStore() : undefined
    if (store?.problem !== undefined) throw unchanged()
    const response = await answer(requestId)
    await store?.stored().catch(() => {
      throw new HttpError(
        'unavailable',
        "The change was made, but the consoles' shared store is not responding. It will be stored there later",
      )
    })
    return response
  } catch (error) {
    const refusal = error instanceof HttpError ? error : unexpected(error)
    if (refusal !== error) logError(`Request ${requestId} failed`, error, { request_id: requestId })
    return json(errorBody(refusal, requestId), {
      status: errorStatus[refusal.code],
      headers: {
        'x-request-id': requestId,
        ...refusal.headers,
        // The rest of the body is unread, so the connection cannot be reused.
        ...(refusal.code === 'payload_too_large' ? { connection: 'close' } : {}),
        ...(refusal.retryAfterSeconds === undefined ? {} : { 'retry-after': String(refusal.retryAfterSeconds) }),
      },
    })
  }
}

const unchanged = () =>
  new HttpError('unavailable', "The consoles' shared store is not responding, so nothing was changed; try again later")

/** Undoes a change that can't be stored, because its response is the only one with a key or link. */
export const storeOrUndo = async (undo: () => void): Promise<void> =>
  currentStore()
    ?.stored()
    .catch(() => {
      undo()
      throw unchanged()
    })

/** Changes that the service keeps work without the store. */
const needsStore = ({ method, url }: Request): boolean =>
  !['GET', 'HEAD'].includes(method) && !/^\/api\/(v1|objects|cluster|terminals)\//.test(new URL(url).pathname)

const sqliteFull = 13

const unexpected = (error: unknown): HttpError =>
  (error as { errcode?: unknown } | undefined)?.errcode === sqliteFull
    ? new HttpError('insufficient_storage', "The console's disk is full")
    : new HttpError('internal', 'The console failed to handle the request; see its log')

export const json = (
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
  })

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
const controlCharacter = /[\x00-\x1f\x7f]/
export const hasControlCharacters = (text: string): boolean => controlCharacter.test(text)
