import { ApiError } from '#lib/client/api-error.ts'
import type { Client } from '#lib/client/client.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { type Devbox, isOfTrial } from '#lib/contract/devboxes.ts'
import type { PollHealth } from '#lib/protocol/alerts.ts'
import { type UnattendedEnd, unattendedEnd } from '#lib/protocol/devbox-ends.ts'
import { serviceNow } from '../upstream/clock.ts'

const everyMs = 15_000
const retryMs = 30_000

/** One page of each list. */
const maxRunning = 1_000
const maxFailed = 100

export interface Poll {
  running: { devbox: Devbox; end: UnattendedEnd | undefined }[]
  /** Without benchmark trials. */
  failed: Devbox[]
  endedJobs: BenchmarkJob[]
  /** Whether all running devboxes fit. */
  isComplete: boolean
  /** Service time before the requests. */
  atMs: number
}

interface Options {
  client: () => Client
  followedJobs(): string[]
  onPoll(poll: Poll): void
}

/** Polls the service for what no stream reports: two lists and each followed job, never twice at once. */
export class ServicePoller {
  readonly #options: Options
  #timer: NodeJS.Timeout | undefined
  #isStarted = false
  #polling: Promise<void> | undefined
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
    return { ...this.#health, every_ms: everyMs, followed_jobs: this.#options.followedJobs().length }
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    void this.poll()
  }

  stop(): void {
    this.#isStarted = false
    clearTimeout(this.#timer)
  }

  /** Keep-alive was called through this console. */
  onKeepAlive(devboxId: string): void {
    this.#keptAliveMs.set(devboxId, serviceNow())
    void this.poll()
  }

  /** Polls now, or after the poll in progress. */
  async poll(): Promise<void> {
    await this.#polling
    if (!this.#isStarted) return
    clearTimeout(this.#timer)
    this.#polling ??= this.#pollNow().finally(() => {
      this.#polling = undefined
    })
    await this.#polling
  }

  async #pollNow(): Promise<void> {
    try {
      const poll = await this.#fetch()
      if (!this.#isStarted) return
      const own = poll.running.filter(({ devbox }) => !isOfTrial(devbox))
      this.#health = {
        looked_ms: Date.now(),
        watched: own.filter(({ end }) => end).length,
        running: own.length,
        has_more: !poll.isComplete,
        problem: null,
      }
      this.#options.onPoll(poll)
    } catch (error) {
      const problem =
        error instanceof ApiError && error.status > 0
          ? `The service responded with ${error.status}`
          : 'The service could not be reached'
      this.#health = { ...this.#health, problem }
    }
    if (this.#isStarted)
      this.#timer = setTimeout(() => void this.poll(), this.#health.problem === null ? everyMs : retryMs)
  }

  async #fetch(): Promise<Poll> {
    const atMs = serviceNow()
    const { devboxes, benchmarkJobs } = this.#options.client()
    const noCount = { include_total_count: false }
    const [running, failures, jobs] = await Promise.all([
      devboxes.list({ query: { ...noCount, status: 'running', limit: maxRunning } }),
      devboxes.list({ query: { ...noCount, status: 'failure', origin: 'own', limit: maxFailed } }),
      Promise.all(this.#options.followedJobs().map((id) => orMissing(benchmarkJobs.get({ params: { id } }), id))),
    ])
    const runningIds = new Set(running.devboxes.map(({ id }) => id))
    for (const id of this.#keptAliveMs.keys()) if (!runningIds.has(id)) this.#keptAliveMs.delete(id)
    return {
      running: running.devboxes.map((devbox) => ({
        devbox,
        end: unattendedEnd(devbox, this.#keptAliveMs.get(devbox.id)),
      })),
      // Other services ignore these filters.
      failed: failures.devboxes.filter((devbox) => devbox.status === 'failure' && !isOfTrial(devbox)),
      endedJobs: jobs.filter(({ state }) => hasJobEnded(state)),
      isComplete: !running.has_more,
      atMs,
    }
  }
}

/** A deleted job counts as ended. */
const orMissing = (request: Promise<BenchmarkJob>, id: string): Promise<BenchmarkJob> =>
  request.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    return {
      id,
      name: id,
      state: 'failed',
      create_time_ms: Date.now(),
      failure_reason: 'The job no longer exists',
    }
  })
