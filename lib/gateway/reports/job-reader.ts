import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BenchmarkJob, BenchmarkJobList } from '#lib/contract/benchmark-jobs.ts'
import { Id } from '#lib/contract/common.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { withinLimit } from '../accounts/sign-in.ts'
import { HttpError } from '../http/handle-request.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { clientFor, toHttpError } from '../upstream/client.ts'

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
