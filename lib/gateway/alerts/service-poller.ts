import { ApiError } from '#lib/client/api-error.ts'
import type { Client } from '#lib/client/client.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { type Devbox, isOfTrial } from '#lib/contract/devboxes.ts'
import type { PollHealth } from '#lib/protocol/alerts.ts'
import { type UnattendedEnd, unattendedEnd } from '#lib/protocol/devbox-ends.ts'

const looksTimes = {
  everyMs: 15_000,
  /** After a look that failed. */
  againMs: 30_000,
}

/** One page of each. What runs beyond that is said to be unwatched. */
const maxRunning = 1_000
const maxFailed = 50
/** Devboxes that stopped running between two looks, and are asked for one by one. */
const maxGone = 20

export interface Poll {
  running: { devbox: Devbox; end: UnattendedEnd | undefined }[]
  /** Trials of benchmarks left out. */
  failed: Devbox[]
  endedJobs: BenchmarkJob[]
  /** Everything that runs was seen. */
  isWhole: boolean
  /** When the service was asked. */
  atMs: number
}

interface Options {
  /** By the clock of the service. */
  now(): number
  client: () => Pick<Client, 'devboxes' | 'benchmarkJobs'>
  followedJobs(): string[]
  onLook(look: Poll): void
}

/**
 * Asks the service, again and again while it is started, for what no stream of the contract tells. Two lists, and one
 * call for each followed job; never a second look while one is under way.
 */
export class ServicePoller {
  readonly #options: Options
  #timer: NodeJS.Timeout | undefined
  #isStarted = false
  #looking: Promise<void> | undefined
  /** Those that ran at the last look: what became of one that no longer does is asked for. */
  #ran = new Set<string>()
  readonly #keptAliveMs = new Map<string, number>()
  #health: Omit<PollHealth, 'every_ms' | 'followed_jobs'> = {
    looked_ms: null,
    watched: 0,
    running: 0,
    has_more: false,
    problem: null,
  }

  constructor(options: Options) {
    this.#options = options
  }

  get health(): PollHealth {
    return {
      ...this.#health,
      every_ms: looksTimes.everyMs,
      followed_jobs: this.#options.followedJobs().length,
    }
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    void this.look()
  }

  stop(): void {
    this.#isStarted = false
    clearTimeout(this.#timer)
  }

  /** Its keep-alive time was started anew through this console. */
  onKeepAlive(devboxId: string): void {
    this.#keptAliveMs.set(devboxId, this.#options.now())
    void this.look()
  }

  /** Once more, at once or after the look that is under way. */
  async look(): Promise<void> {
    await this.#looking
    if (!this.#isStarted) return
    clearTimeout(this.#timer)
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  async #lookNow(): Promise<void> {
    const atMs = this.#options.now()
    try {
      const look = await this.#ask(atMs)
      if (!this.#isStarted) return
      this.#health = {
        looked_ms: Date.now(),
        watched: look.running.filter(({ devbox, end }) => end && !isOfTrial(devbox)).length,
        running: look.running.filter(({ devbox }) => !isOfTrial(devbox)).length,
        has_more: !look.isWhole,
        problem: null,
      }
      this.#options.onLook(look)
    } catch (error) {
      this.#health = { ...this.#health, problem: problemOf(error) }
    }
    if (!this.#isStarted) return
    const pauseMs = this.#health.problem === null ? looksTimes.everyMs : looksTimes.againMs
    this.#timer = setTimeout(() => void this.look(), pauseMs)
  }

  async #ask(atMs: number): Promise<Poll> {
    const { devboxes, benchmarkJobs } = this.#options.client()
    const counted = { include_total_count: false }
    const [running, failures, jobs] = await Promise.all([
      devboxes.list({ query: { ...counted, status: 'running', limit: maxRunning } }),
      devboxes.list({ query: { ...counted, status: 'failure', limit: maxFailed } }),
      Promise.all(this.#options.followedJobs().map((id) => orMissing(benchmarkJobs.get({ params: { id } }), id))),
    ])
    const runningIds = new Set(running.devboxes.map(({ id }) => id))
    const failedIds = new Set(failures.devboxes.map(({ id }) => id))
    const gone = running.has_more ? [] : [...this.#ran].filter((id) => !runningIds.has(id) && !failedIds.has(id))
    const found = await Promise.all(
      gone.slice(0, maxGone).map((id) => devboxes.get({ params: { id } }).catch(() => undefined)),
    )
    this.#ran = runningIds
    for (const id of this.#keptAliveMs.keys()) if (!runningIds.has(id)) this.#keptAliveMs.delete(id)
    return {
      running: running.devboxes.map((devbox) => ({
        devbox,
        end: unattendedEnd(devbox, this.#keptAliveMs.get(devbox.id)),
      })),
      failed: [...failures.devboxes, ...found].filter(
        (devbox) => devbox?.status === 'failure' && !isOfTrial(devbox),
      ) as Devbox[],
      endedJobs: jobs.filter(({ state }) => hasJobEnded(state)),
      isWhole: !running.has_more,
      atMs,
    }
  }
}

/** A job that is gone has ended for whoever follows it. */
const orMissing = (asked: Promise<BenchmarkJob>, id: string): Promise<BenchmarkJob> =>
  asked.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    return {
      id,
      name: id,
      state: 'failed',
      create_time_ms: Date.now(),
      failure_reason: 'The service has no such job',
    }
  })

const problemOf = (error: unknown): string =>
  error instanceof ApiError && error.status > 0
    ? `The service answered ${error.status}`
    : 'The service could not be reached'
