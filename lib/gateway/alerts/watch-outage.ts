import type { Alert } from '#lib/protocol/alerts.ts'
import { serviceNow } from '../upstream/clock.ts'

const outageTimes = {
  /** An outage this long raises an alert. */
  raiseMs: 60_000,
  /** A stream without evictions is silent until it is reopened every minute. */
  lateMs: 90_000,
  checkMs: 1_000,
  /** After a longer gap between checks, this machine was asleep. */
  maxGapMs: 10_000,
}

/** The console's view of an account's service, in its own time. */
export interface Observed {
  /** When the eviction stream was lost or first requested; undefined while it is live. */
  lostMs: number | undefined
  isRefused: boolean
  isReplaying: boolean
  heardMs: number | null
  unreadable: { sinceMs: number; reason: string } | undefined
  polledMs: number | null
  pollFailure: { sinceMs: number; problem: string } | undefined
}

type Watch = NonNullable<Alert['watch']>
type Outage = Pick<Watch, 'cause' | 'detail'> & { sinceMs: number }

interface Options {
  account: string
  observe(): Observed
  /** The open alert of an outage. */
  alert(): Alert | undefined
  raise(watch: Watch, sinceMs: number): void
  update(alert: Alert): void
  resolve(alert: Alert): void
}

/** Raises an alert while evictions, expirations or failures may go unseen, and resolves it once the service is seen. */
export class OutageMonitor {
  readonly #options: Options
  #timer: NodeJS.Timeout | undefined
  /** When watching began, or this machine woke up. */
  #watchingMs = 0
  #checkedMs = 0
  /** False until the service was first seen, and from the alarm of an outage until it is resolved. */
  sees = false

  constructor(options: Options) {
    this.#options = options
  }

  start(): void {
    if (this.#timer) return
    this.#watchingMs = this.#checkedMs = Date.now()
    this.#timer = setInterval(() => this.#check(), outageTimes.checkMs)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.sees = false
  }

  #check(): void {
    const nowMs = Date.now()
    if (nowMs - this.#checkedMs > outageTimes.maxGapMs) this.#watchingMs = nowMs
    this.#checkedMs = nowMs
    const observed = this.#options.observe()
    const [worst, ...others] = outagesOf(observed, this.#watchingMs, nowMs)
    // An alert from before a restart stays open until the service is seen.
    const alert = this.#options.alert()
    if (!worst) {
      if (observed.isReplaying || (observed.polledMs ?? 0) < this.#watchingMs) return
      this.sees = true
      if (alert) this.#options.resolve(alert)
      return
    }
    const { cause, detail } = worst
    const watch = { cause, detail, account: this.#options.account }
    const sinceMs = Math.max(this.#watchingMs, Math.min(worst.sinceMs, ...others.map((other) => other.sinceMs)))
    if (!alert && nowMs - sinceMs < outageTimes.raiseMs) return
    this.sees = false
    if (!alert) this.#options.raise(watch, sinceMs + serviceNow() - nowMs)
    else if (alert.watch?.detail !== detail) this.#options.update({ ...alert, watch })
  }
}

/** The worst first. */
const outagesOf = (
  { lostMs, isRefused, heardMs, unreadable, pollFailure }: Observed,
  watchingMs: number,
  nowMs: number,
): Outage[] => {
  const outages: Outage[] = []
  if (lostMs !== undefined)
    outages.push(
      isRefused
        ? { cause: 'refused', detail: 'The service refuses the eviction stream', sinceMs: lostMs }
        : { cause: 'unreachable', detail: 'No connection to the service', sinceMs: lostMs },
    )
  if (pollFailure) {
    const { problem, sinceMs } = pollFailure
    outages.push({ cause: 'unreachable', detail: `Polling fails: ${problem}`, sinceMs })
  }
  if (unreadable) {
    const { reason, sinceMs } = unreadable
    outages.push({ cause: 'unreadable', detail: `The service sends unreadable events: ${reason}`, sinceMs })
  }
  if (heardMs !== null && nowMs - Math.max(heardMs, watchingMs) > outageTimes.lateMs)
    outages.push({ cause: 'late', detail: 'The eviction stream is silent', sinceMs: heardMs })
  return outages
}
