import type { ErrorCode } from '#lib/contract/errors.ts'

interface ErrorDetails {
  field?: string
  /** Seconds after which trying again makes sense. */
  retryAfterSeconds?: number
  /** What the public clients should do; without it they retry 408, 409, 429 and every 5xx. */
  shouldRetry?: boolean
  /** The methods an address takes, on a `method_not_allowed`. */
  allow?: readonly string[]
  cause?: unknown
}

/** The only error a route throws on purpose; `http/error-response` alone turns it into HTTP. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly shouldRetry: boolean | undefined
  readonly allow: readonly string[] | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.code = code
    this.field = details.field
    this.retryAfterSeconds = details.retryAfterSeconds
    this.shouldRetry = details.shouldRetry
    this.allow = details.allow
  }
}

/** Throws the 404 of a resource: `notFound('devbox', id)`. */
export const notFound = (resource: string, id: string): never => {
  throw new ServiceError('not_found', `There is no ${resource} ${id}`)
}
