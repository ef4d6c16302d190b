import { ApiError } from '#lib/client/api-error.ts'
import { readDefinitions } from '#lib/client/scenario-definitions.ts'
import type { BenchmarkJob, BenchmarkJobList } from '#lib/contract/benchmark-jobs.ts'
import { Id } from '#lib/contract/common.ts'
import { digestOf } from '../accounts/digest.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { verifyKey, withinLimit } from '../accounts/sign-in.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { HttpError } from '../http/handle-request.ts'
import { personalKeyIn, requireSameOrigin } from '../http/origin.ts'
import { slot } from '../registry/registry.ts'
import { clientFor, serviceIdentity, storedAccount, toHttpError } from '../upstream/client.ts'
import { readJob } from './job-cache.ts'

/** A page of jobs is as large as its jobs. */
const readTimeoutMs = 30_000

/** The jobs that one key may read. */
export interface JobSource {
  /** Identifies the account and its service; key of what the console stores about jobs. */
  account: string
  /** `field`: request parameter to blame if the job doesn't exist. */
  get: (id: string, field?: string) => Promise<BenchmarkJob>
  list: (limit: number, startingAfter?: string) => Promise<BenchmarkJobList>
  /** Metadata of the job's scenarios by id; empty if the service doesn't list scenarios. */
  metadata: (job: string, scenarios: readonly string[]) => Promise<ScenarioMetadata>
}

type ScenarioMetadata = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Reads jobs with the page's session or the script's own API key. */
export const jobSource = async (request: Request): Promise<JobSource> => {
  const header = (name: string) => request.headers.get(name)
  const given = header('authorization')
  if (given === null || personalKeyIn(header) !== undefined) return jobSourceOf(await requireCaller(request, 'read'))
  requireSameOrigin(header, 'read')
  const key = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(given)?.[1]
  if (key === undefined) throw new HttpError('unauthenticated', 'Authorization must be `Bearer <API key>`')
  const client = request.headers.get('x-devdeck-client') ?? 'unknown'
  const account = await withinLimit(client, () => accountOf(key))
  return sourceOf({ account, api_key: key }, (read) => withinLimit(client, read))
}

/** Accounts by the digest of their key. A key keeps its account; every read of a job still checks the key itself. */
const accountsByKey = slot('accountsByKey', () => new Map<string, KeyHolder['account']>())
const maxKnownKeys = 1_000

const accountOf = async (key: string): Promise<KeyHolder['account']> => {
  const accounts = accountsByKey()
  const digest = digestOf(`${serviceIdentity()} ${key}`)
  const known = accounts.get(digest)
  if (known) return known
  const account = await verifyKey(key)
  if (accounts.size >= maxKnownKeys) accounts.clear()
  accounts.set(digest, account)
  return account
}

/** Reads jobs on behalf of someone who isn't present, such as the person who shared a report. */
export const jobSourceOf = (holder: KeyHolder): JobSource => sourceOf(holder, (read) => read())

const sourceOf = ({ account, api_key }: KeyHolder, limited: <T>(read: () => Promise<T>) => Promise<T>): JobSource => {
  const { benchmarkJobs, scenarios } = clientFor(api_key, readTimeoutMs)
  const read = <T>(ask: () => Promise<T>) =>
    limited(() => ask().catch((error: unknown) => Promise.reject(toHttpError(error))))
  return {
    account: storedAccount(account.id),
    get: async (id, field = 'id') => {
      // The id becomes part of a path, so dots could lead elsewhere.
      if (!Id.safeParse(id).success) throw new HttpError('invalid_argument', `${id} is not a valid job ID`, { field })
      return await read(() => readJob(api_key, id)).catch((error: HttpError) => {
        throw error.code === 'not_found' ? new HttpError('not_found', missingJob(id), { field }) : error
      })
    },
    list: async (limit, starting_after) => {
      const page = await read(() =>
        benchmarkJobs.list({ query: { limit, include_total_count: false, starting_after } }),
      )
      return { ...page, jobs: page.jobs.map(named) }
    },
    metadata: (job, ids) =>
      cachedMetadata(`${storedAccount(account.id)} ${job} ${ids.length}`, () =>
        read(async () => {
          const known = await readDefinitions(job, ids, { scenarios }).catch((error: unknown) => {
            if (error instanceof ApiError && [404, 405, 501].includes(error.status)) return {}
            throw error
          })
          return Object.fromEntries(Object.entries(known).map(([id, { metadata }]) => [id, metadata]))
        }),
      ),
  }
}

const metadataCache = slot('scenarioMetadata', () => new Map<string, { untilMs: number; metadata: ScenarioMetadata }>())
const [metadataMs, maxCachedJobs] = [60_000, 20]

const cachedMetadata = async (key: string, read: () => Promise<ScenarioMetadata>): Promise<ScenarioMetadata> => {
  const cache = metadataCache()
  const known = cache.get(key)
  if (known && known.untilMs > performance.now()) return known.metadata
  const metadata = await read()
  if (cache.size >= maxCachedJobs) cache.clear()
  cache.set(key, { untilMs: performance.now() + metadataMs, metadata })
  return metadata
}

const missingJob = (id: string) =>
  `No benchmark job with ID ${id}. It was deleted, belongs to another account, or the ID is mistyped.`

const named = (job: BenchmarkJob): BenchmarkJob => (job.name.trim() ? job : { ...job, name: job.id })
