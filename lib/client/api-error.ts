import { codeForStatus, type ErrorCode, errorStatus } from '#lib/contract/errors.ts'

/** A refused or failed call. Branch on `code`; `message` is for people. `status` is 0 when no answer came. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode | 'unreachable' | (string & {})
  readonly status: number
  readonly requestId: string | undefined
  readonly field: string | undefined
  /** How long the service asks to wait before the next call; undefined when it does not. */
  readonly retryAfterMs: number | undefined
  /** The same as a time of this program's clock. */
  readonly retryAtMs: number | undefined

  constructor(
    code: ApiError['code'],
    status: number,
    message: string,
    more: { requestId?: string; field?: string; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.code = code
    this.status = status
    this.requestId = more.requestId
    this.field = more.field
    this.retryAfterMs = more.retryAfterMs
    this.retryAtMs = more.retryAfterMs === undefined ? undefined : Date.now() + more.retryAfterMs
  }
}

const final = new Set<string>([
  'not_found',
  'unauthenticated',
  'forbidden',
  'not_implemented',
  'invalid_argument',
  'conflict',
])

/** Whether the same call would fail again, however often it is made. */
export const isFinal = (error: unknown): boolean => error instanceof ApiError && isFinalCode(error.code)

export const isFinalCode = (code: string): boolean => final.has(code)

/** An answer that is no success, as the error it stands for. */
export const readError = async (response: Response): Promise<ApiError> => {
  const text = await response.text().catch(() => '')
  const body = readObject(text)
  const asText = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const code = asText(body.code)
  return new ApiError(
    code && Object.hasOwn(errorStatus, code) ? code : codeForStatus(response.status),
    response.status,
    asText(body.message) ?? `The service answered ${response.status} without a reason`,
    {
      requestId: asText(body.request_id),
      field: asText(body.field),
      retryAfterMs: readRetryAfter(response.headers),
    },
  )
}

/** `Retry-After` in milliseconds, given as seconds or as a date; undefined when it says nothing usable. */
const readRetryAfter = (headers: Headers): number | undefined => {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const seconds = Number(value)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** What an `error` event says: `code` is the HTTP status the failure would have had as an answer. */
export const streamError = (data: string): ApiError => {
  const { code, message } = readObject(data)
  const status = Number(code)
  return new ApiError(
    codeForStatus(Number.isInteger(status) ? status : 500),
    Number.isInteger(status) ? status : 500,
    typeof message === 'string' ? message : 'The service ended the stream without a reason',
  )
}

/** The JSON object in `text`, or an empty one when it holds something else. */
const readObject = (text: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(text))
  } catch {
    // Not our shape: what is known without it has to tell.
    return {}
  }
}
