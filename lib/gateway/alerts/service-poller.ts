import { ApiError } from '#lib/client/api-error.ts'
import type { Client } from '#lib/client/client.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { type Devbox, isOfTrial } from '#lib/contract/devboxes.ts'
import type { Alert, PollHealth } from '#lib/protocol/alerts.ts'
import { type UnattendedEnd, unattendedEnd } from '#lib/protocol/devbox-ends.ts'
import { serviceNow } from '../upstream/clock.ts'
import { endSubject, isEndNear, type Subject, unseenMs } from './alert-rules.ts'
import type { OpenAlerts } from './open-alerts.ts'

const everyMs = 10_000
const retryMs = 30_000

/** One page of each list. */
const maxRunning = 1_000
const maxFailed = 100

export interface Poll {
  running: { devbox: Devbox; end: UnattendedEnd | undefined }[]
  /** Excludes benchmark trials. */
  failed: Devbox[]
  endedJobs: BenchmarkJob[]
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
  /** Since the last successful poll. */
  failure: { sinceMs: number; problem: string } | undefined
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
    this.failure = undefined
    void this.poll()
  }

  stop(): void {
    this.#isStarted = false
    clearTimeout(this.#timer)
  }

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
      this.failure = undefined
      this.#options.onPoll(poll)
    } catch (error) {
      const problem =
        error instanceof ApiError && error.status > 0
          ? `The service responded with ${error.status}${error.status < 300 ? ' and an unexpected body' : ''}`
          : 'The service could not be reached'
      this.#health = { ...this.#health, problem }
      this.failure = { sinceMs: this.failure?.sinceMs ?? Date.now(), problem }
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

/** Changes a poll can make to an account's alerts. */
interface Actions {
  raise(subject: Subject, details: Pick<Alert, 'devbox_name' | 'metadata' | 'found_late'>): void
  close(alert: Alert, state: 'moved' | 'passed'): void
  /** Looks up what happened to the devbox, then closes the alert. */
  settle(alert: Alert): void
  unfollowJob(jobId: string): boolean
}

/** After a longer gap between polls, findings count as late. */
const lateGapMs = 60_000
const clockSlackMs = 1_000
/** A devbox that still runs this long after its end did not end. */
const stillRunningMs = 30_000

/** Raises and closes the alerts that only polling reveals. `previousMs` is the time of the last poll, if any. */
export const applyPoll = (
  { running, failed, endedJobs, isComplete }: Poll,
  previousMs: number | null,
  open: OpenAlerts,
  { raise, close, settle, unfollowJob }: Actions,
): void => {
  const nowMs = serviceNow()
  const found_late = previousMs !== null && nowMs - previousMs > lateGapMs

  for (const { devbox, end } of running) {
    if (!end || isOfTrial(devbox) || !isEndNear(end, nowMs)) continue
    const subject = endSubject(devbox.id, end)
    if (!open.get(subject.id)) raise(subject, { ...detailsOf(devbox), found_late: false })
  }

  const ends = new Map(running.map(({ devbox, end }) => [devbox.id, end]))
  for (const alert of open.ofKind('end')) {
    const end = ends.get(alert.devbox_id)
    if (end && end.at_ms !== alert.deadline_ms) close(alert, 'moved')
    else if (!end && (isComplete || nowMs > alert.deadline_ms)) settle(alert)
    else if (end && nowMs > alert.deadline_ms + stillRunningMs) close(alert, 'passed')
  }

  // Failures from before the first poll raise no alert.
  const sinceMs = Math.max(previousMs ?? nowMs, nowMs - unseenMs) - clockSlackMs
  for (const devbox of failed) {
    const failedMs = devbox.end_time_ms ?? devbox.create_time_ms
    const id = `${devbox.id}:failure`
    if (failedMs < sinceMs || open.find(id)) continue
    const node = devbox.failure_reason === 'node_lost' ? devbox.node?.hostname : undefined
    const subject = { id, kind: 'failure', devbox_id: devbox.id, deadline_ms: failedMs, ...(node && { node }) } as const
    raise(subject, { ...detailsOf(devbox), found_late })
  }

  for (const { id, name, state } of endedJobs)
    if (unfollowJob(id))
      raise(
        { id: `${id}:job`, kind: 'job', devbox_id: '', deadline_ms: nowMs, job: { id, name, state } },
        { devbox_name: null, metadata: {}, found_late },
      )
}

const detailsOf = ({ name = null, metadata }: Devbox) => ({ devbox_name: name, metadata })
