import type { ErrorCode } from '#lib/contract/errors.ts'
import type { FieldProblem } from '#lib/contract/query-string.ts'

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

const maxToldProblems = 20

/** The 400 of what is wrong with the input, all of it in one message; the field is that of the first. */
export const invalid = (...problems: readonly (FieldProblem | undefined)[]) => {
  const [first = { field: 'body', message: 'is not valid' }, ...others] = problems.filter((each) => each !== undefined)
  const told = [first, ...others.slice(0, maxToldProblems - 1)].map(({ field, message }) => `${field}: ${message}`)
  const more = 1 + others.length - told.length
  const message = [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  return new ServiceError('invalid_argument', message, { field: first.field })
}

/** A fault of the surroundings that a person has to mend; its message is the whole line to show. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

const fullCodes = new Set<unknown>(['ENOSPC', 'EDQUOT', 'insufficient_storage'])

/** Whether a write of a file or to the database failed because there is no room for it. */
export const isDiskFull = (error: unknown): boolean => {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return error instanceof Error && (fullCodes.has(code) || sqliteFull.has(errcode))
}

export const diskFull = (cause?: unknown) =>
  new ServiceError('insufficient_storage', 'The disk of the service is full', { shouldRetry: false, cause })

/** SQLITE_FULL; SQLITE_IOERR_WRITE, which a quota causes; SQLITE_IOERR_SHMSIZE, no room for the index of the log. */
const sqliteFull = new Set<unknown>([13, 10 | (3 << 8), 10 | (19 << 8)])

/** For a file that need not be there: `readFile(path).catch(ifMissing)`. */
export const ifMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error
}
