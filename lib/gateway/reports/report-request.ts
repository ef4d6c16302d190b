import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BenchmarkJob, BenchmarkJobList } from '#lib/contract/benchmark-jobs.ts'
import { Id } from '#lib/contract/common.ts'
import type { FailureRule, ReportFormat, ReportTable } from '#lib/protocol/reports.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { withinLimit } from '../accounts/sign-in.ts'
import { HttpError, json } from '../http/handle-request.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { clientFor, toHttpError } from '../upstream/client.ts'

const formats: readonly ReportFormat[] = ['json', 'csv', 'md']
const tables: readonly ReportTable[] = ['agents', 'pairs', 'excluded_scenarios']
const rules: readonly FailureRule[] = ['zero', 'leave_out']

/** Parses a report request. Throws 400 for unknown parameters and invalid values. */
export const parseReportRequest = (request: Request, more: readonly string[]) => {
  const { searchParams } = new URL(request.url)
  for (const name of searchParams.keys()) {
    if (!['format', 'failures', 'metric', 'threshold', ...more].includes(name))
      throw new HttpError('invalid_argument', `Unknown report parameter ${name}`, { field: name })
    if (searchParams.getAll(name).length > 1)
      throw new HttpError('invalid_argument', `${name} can only be set once`, { field: name })
  }
  return {
    format: oneOf('format', formats, searchParams.get('format') ?? 'json'),
    rule: oneOf('failures', rules, searchParams.get('failures') ?? 'zero'),
    metric: searchParams.get('metric') || undefined,
    threshold: numberOf('threshold', searchParams.get('threshold') || undefined),
    table: oneOf('table', tables, searchParams.get('table') ?? 'agents'),
    param: (name: string) => searchParams.get(name) ?? undefined,
  }
}

const numberOf = (field: string, given: string | undefined): number | undefined => {
  if (given === undefined) return undefined
  if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(given) || !Number.isFinite(Number(given)))
    throw new HttpError('invalid_argument', `${field} must be a number`, { field })
  return Number(given)
}

const oneOf = <T extends string>(field: string, values: readonly T[], given: string): T => {
  const found = values.find((value) => value === given)
  if (found === undefined)
    throw new HttpError('invalid_argument', `${field} must be one of ${values.join(', ')}`, { field })
  return found
}

/** A job with 10,000 outcomes is a few megabytes. */
const readTimeoutMs = 30_000

export interface JobReader {
  /** `field`: request parameter to blame if the job doesn't exist. */
  get: (id: string, field?: string) => Promise<BenchmarkJob>
  list: (limit: number, startingAfter?: string) => Promise<BenchmarkJobList>
}

/** Reads jobs with the page's session or the script's own API key. */
export const jobReader = async (request: Request): Promise<JobReader> => {
  const given = request.headers.get('authorization')
  if (given === null) {
    const { api_key } = await requireCaller(request, 'read')
    return readerOf(api_key, (read) => read())
  }
  requireSameOrigin((name) => request.headers.get(name), 'read')
  const key = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(given)?.[1]
  if (key === undefined) throw new HttpError('unauthenticated', 'Authorization must be `Bearer <API key>`')
  const client = request.headers.get('x-devdeck-client') ?? 'unknown'
  return readerOf(key, (read) => withinLimit(client, read))
}

const readerOf = (apiKey: string, limited: <T>(read: () => Promise<T>) => Promise<T>): JobReader => {
  const { benchmarkJobs } = clientFor(apiKey, readTimeoutMs)
  const read = <T>(ask: () => Promise<T>) =>
    limited(() => ask().catch((error: unknown) => Promise.reject(toHttpError(error))))
  return {
    get: async (id, field = 'id') => {
      // The id becomes part of a path, so dots could lead elsewhere.
      if (!Id.safeParse(id).success) throw new HttpError('invalid_argument', `${id} is not a valid job ID`, { field })
      return named(
        await read(() => benchmarkJobs.get({ params: { id } })).catch((error: HttpError) => {
          throw error.code === 'not_found' ? new HttpError('not_found', missingJob(id), { field }) : error
        }),
      )
    },
    list: async (limit, starting_after) => {
      const page = await read(() =>
        benchmarkJobs.list({ query: { limit, include_total_count: false, starting_after } }),
      )
      return { ...page, jobs: page.jobs.map(named) }
    },
  }
}

const missingJob = (id: string) =>
  `No benchmark job with ID ${id}. It was deleted, belongs to another account, or the ID is mistyped.`

const named = (job: BenchmarkJob): BenchmarkJob => (job.name.trim() ? job : { ...job, name: job.id })

/** Runs a long computation step by step so that terminals in this process stay responsive. */
export const runInSteps = async <T>(steps: Generator<void, T>): Promise<T> => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await nextTurn()
  }
}

export const respondIn = <R>(
  format: ReportFormat,
  report: R,
  csv: (report: R) => string,
  markdown: (report: R) => string,
): Response => {
  if (format === 'json') return json(report)
  const isCsv = format === 'csv'
  return new Response(isCsv ? csv(report) : markdown(report), {
    headers: {
      'content-type': `text/${isCsv ? 'csv' : 'markdown'}; charset=utf-8`,
      'content-disposition': `attachment; filename="benchmark-report.${format}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}
