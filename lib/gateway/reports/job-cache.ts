import { ApiError } from '#lib/client/api-error.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { digestOf } from '../accounts/digest.ts'
import { slot } from '../registry/registry.ts'
import { clientFor, onKeyAccepted, serviceIdentity, withBody } from '../upstream/client.ts'

/** A job with 10,000 outcomes is a few megabytes. */
const readTimeoutMs = 30_000
/** Size as JSON; parsed jobs take several times as much memory. */
const maxBytes = 32 * 1024 ** 2

interface CachedJob {
  etag: string | null
  digest: string
  bytes: number
  job: BenchmarkJob
}

/** Parsed jobs by key and id, least recently used first. */
const jobCache = slot('jobCache', () => ({
  jobs: new Map<string, CachedJob>(),
  reading: new Map<string, Promise<unknown>>(),
}))

/**
 * Reads a job, or returns the cached one after the service has confirmed for this key that it is unchanged: by 304, or, without
 * an ETag, by an equal response. Reads of the same job are queued, so that a burst of requests transfers it once.
 */
export const readJob = async (apiKey: string, id: string): Promise<BenchmarkJob> => {
  const { reading } = jobCache()
  const key = digestOf(`${serviceIdentity()} ${apiKey} ${id}`)
  const before = reading.get(key)
  const own = (before ?? Promise.resolve()).then(() => revalidate(key, apiKey, id))
  const done = own.then(
    () => undefined,
    () => undefined,
  )
  reading.set(key, done)
  try {
    return await own
  } finally {
    if (reading.get(key) === done) reading.delete(key)
  }
}

const revalidate = async (key: string, apiKey: string, id: string): Promise<BenchmarkJob> => {
  const { jobs } = jobCache()
  const known = jobs.get(key)
  jobs.delete(key)
  let unchanged: CachedJob | undefined
  let changed: Omit<CachedJob, 'job'> | undefined
  const { benchmarkJobs } = clientFor(apiKey, readTimeoutMs, (fetch) => async (input, init) => {
    const headers = new Headers(init?.headers)
    if (known?.etag) headers.set('if-none-match', known.etag)
    const response = await fetch(input, { ...init, headers })
    if (known && response.status === 304) {
      onKeyAccepted(apiKey)
      unchanged = known
      return Response.json({})
    }
    if (!response.ok) return response
    const body = Buffer.from(await response.arrayBuffer())
    const received = { etag: response.headers.get('etag'), digest: digestOf(body), bytes: body.length }
    if (known?.digest === received.digest) {
      unchanged = { ...known, etag: received.etag }
      return Response.json({})
    }
    changed = received
    return withBody(response, body)
  })
  const job = await benchmarkJobs.get({ params: { id } }).catch((error: unknown) => {
    // Keeps the job while the service is unavailable: it is confirmed again before its next use.
    if (known && error instanceof ApiError && (error.status === 0 || error.status >= 500)) jobs.set(key, known)
    throw error
  })
  const entry = unchanged ?? (changed && { ...changed, job: job.name.trim() ? job : { ...job, name: job.id } })
  if (!entry) return job
  jobs.set(key, entry)
  let total = [...jobs.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  for (const [oldest, { bytes }] of jobs) {
    if (total <= maxBytes || oldest === key) break
    jobs.delete(oldest)
    total -= bytes
  }
  return entry.job
}
