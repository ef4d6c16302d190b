import type { ErrorCode } from '#lib/contract/errors.ts'
import type { FieldProblem } from '#lib/contract/query-string.ts'

interface ErrorDetails {
  field?: string
  retryAfterSeconds?: number
  /** Whether public clients should retry. By default they retry 408, 409, 429 and 5xx. */
  shouldRetry?: boolean
  allow?: readonly string[]
  cause?: unknown
}

export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  declare readonly field: string | undefined
  declare readonly retryAfterSeconds: number | undefined
  declare readonly shouldRetry: boolean | undefined
  declare readonly allow: readonly string[] | undefined

  constructor(code: ErrorCode, message: string, { cause, ...details }: ErrorDetails = {}) {
    super(message, { cause })
    this.code = code
    Object.assign(this, details)
  }
}

export const notFound = (resource: string, id: string): never => {
  throw new ServiceError('not_found', `${resource[0]?.toUpperCase()}${resource.slice(1)} ${id} not found`)
}

export const isUnavailable = (error: unknown): boolean => error instanceof ServiceError && error.code === 'unavailable'

const maxListedProblems = 20

export const invalid = (...problems: readonly FieldProblem[]) => {
  const listed = problems.slice(0, maxListedProblems).map(({ field, message }) => `${field}: ${message}`)
  const more = problems.length - listed.length
  const message = [...listed, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  return new ServiceError('invalid_argument', message, problems[0] && { field: problems[0].field })
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
