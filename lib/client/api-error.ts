import { codeForStatus, type ErrorCode, errorStatus } from '#lib/contract/errors.ts'
import { serviceNow } from './clock.ts'

/** A failed call. Branch on `code`; `message` is for people. `status` is 0 without a response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode | 'unreachable' | (string & {})
  readonly status: number
  declare readonly requestId: string | undefined
  declare readonly field: string | undefined
  declare readonly retryAfterMs: number | undefined
  readonly retryAtMs: number | undefined

  constructor(
    code: ApiError['code'],
    status: number,
    message: string,
    { cause, ...more }: { requestId?: string; field?: string; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.status = status
    Object.assign(this, more)
    this.retryAtMs = more.retryAfterMs === undefined ? undefined : serviceNow() + more.retryAfterMs
  }
}

const final = ['not_found', 'unauthenticated', 'forbidden', 'not_implemented', 'invalid_argument', 'conflict']

/** Whether retrying the same call cannot succeed. */
export const isFinal = (error: unknown): boolean => error instanceof ApiError && isFinalCode(error.code)

export const isFinalCode = (code: string): boolean => final.includes(code)

export const readError = async (response: Response): Promise<ApiError> => {
  const text = await response.text().catch(() => '')
  const body = readObject(text)
  const asText = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const code = asText(body.code)
  return new ApiError(
    code && Object.hasOwn(errorStatus, code) ? code : codeForStatus(response.status),
    response.status,
    asText(body.message) ??
      `The service returned ${response.status}${messageIn(body, text) ?? ' without an error message'}`,
    {
      requestId: asText(body.request_id),
      field: asText(body.field),
      retryAfterMs: readRetryAfter(response.headers),
    },
  )
}

const maxMessageLength = 300

/** Errors of other services and of proxies before them: `{error: {message}}`, `{error}`, `{detail}`, or a line of text. */
const messageIn = ({ error, detail }: Record<string, unknown>, text: string): string | undefined => {
  const isLine = text.length <= maxMessageLength && !/[\n<{[]/.test(text.trim())
  const found = [Object(error).message, error, detail, isLine && text.trim()]
  const message = found.find((each): each is string => typeof each === 'string' && each !== '')
  return message && `: ${message.slice(0, maxMessageLength)}`
}

/** `Retry-After`, in seconds or as a date, in milliseconds. */
const readRetryAfter = (headers: Headers): number | undefined => {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const seconds = Number(value)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - serviceNow()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** The error in an `error` event of a stream; its `code` is an HTTP status. */
export const streamError = (data: string): ApiError => {
  const { code, message } = readObject(data)
  const status = Number.isInteger(Number(code)) ? Number(code) : 500
  return new ApiError(
    codeForStatus(status),
    status,
    typeof message === 'string' ? message : 'The service ended the stream without an error message',
  )
}

const readObject = (text: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
