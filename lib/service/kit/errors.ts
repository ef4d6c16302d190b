import type { ErrorCode } from '#lib/contract/errors.ts'
import type { FieldProblem } from '#lib/contract/query-string.ts'

interface ErrorDetails {
  field?: string
  retryAfterSeconds?: number
  /** Tells public clients whether to retry. By default they retry 408, 409, 429 and 5xx. */
  shouldRetry?: boolean
  allow?: readonly string[]
  cause?: unknown
}

/** The error that routes throw; `http/error-response` maps it to HTTP. */
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

/** Throws a 404: `notFound('devbox', id)`. */
export const notFound = (resource: string, id: string): never => {
  throw new ServiceError('not_found', `${resource[0]?.toUpperCase()}${resource.slice(1)} ${id} not found`)
}

const maxListedProblems = 20

export const invalid = (...problems: readonly (FieldProblem | undefined)[]) => {
  const [first = { field: 'body', message: 'is not valid' }, ...others] = problems.filter((each) => each !== undefined)
  const listed = [first, ...others.slice(0, maxListedProblems - 1)].map(({ field, message }) => `${field}: ${message}`)
  const more = 1 + others.length - listed.length
  const message = [...listed, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  return new ServiceError('invalid_argument', message, { field: first.field })
}

export class StartError extends Error {
  override readonly name = 'StartError'
}

const diskFullCodes = new Set<unknown>(['ENOSPC', 'EDQUOT', 'insufficient_storage'])

export const isDiskFull = (error: unknown): boolean => {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return error instanceof Error && (diskFullCodes.has(code) || sqliteFull.has(errcode))
}

export const diskFull = (cause?: unknown) =>
  new ServiceError('insufficient_storage', "The service's disk is full", { shouldRetry: false, cause })

/** SQLITE_FULL; SQLITE_IOERR_WRITE (quota); SQLITE_IOERR_SHMSIZE (WAL index). */
const sqliteFull = new Set<unknown>([13, 10 | (3 << 8), 10 | (19 << 8)])

export const ifMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error
}
