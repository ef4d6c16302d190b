import { ApiError, isFinalCode } from '#lib/client/api-error.ts'
import { pause } from '#lib/client/backoff.ts'
import { Eviction, evictions, pendingCountHeader } from '#lib/contract/evictions.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { subscribe, subscriptionTimes } from '../live/subscription.ts'
import type { TopicRequest } from '../live/topics.ts'
import { logWarning } from '../observability/log.ts'
import { keyAcceptedListeners } from '../upstream/client.ts'
import { serviceNow } from '../upstream/clock.ts'

/** `attempt` counts failed connections since the stream was last live. */
export interface EvictionStreamState {
  state: 'live' | 'retrying' | 'refused'
  attempt: number
  retry_at_ms?: number
  /** The service has no eviction stream. */
  is_missing?: true
}

export type EvictionEvent =
  /** New, or with a changed deadline. `found_late` if it was reported before this connection opened. */
  | { event: 'eviction'; data: Eviction; found_late: boolean }
  /** The deadline passed over a minute ago, or the service no longer reports it. */
  | { event: 'removed'; data: Pick<Eviction, 'devbox_id'> }
  | { event: 'upstream'; data: EvictionStreamState }

export const watchTimes = {
  ...subscriptionTimes,
  /** About thirty attempts in ten minutes: every console of a team holds a stream. */
  maxMs: 30_000,
  maxRetryAfterMs: 50_000,
  /** One to three minutes. */
  refused: { firstMs: 120_000, maxMs: 120_000 },
  /** Minimum time until a retry triggered by other successful calls. */
  maxWakeMs: 5_000,
  refusedWakeMs: 60_000,
  expiryCheckMs: 15_000,
  /** Minimum time for the service to repeat pending evictions; slower services get twice the longest time measured. */
  settleMs: 3_000,
  /** Evictions that a connection has not repeated by then count as withdrawn. */
  withdrawnMs: 30_000,
  /** Evictions are removed this long after their deadline. */
  passedMs: 60_000,
  /** The stream never reports withdrawals and may lose events, so it is reopened regularly. */
  refreshMs: 60_000,
  /** Minimum time between connections if a proxy ends each one early. */
  paceMs: 1_000,
  /** Without a first response by then, the stream counts as retrying. */
  firstAnswerMs: 2_000,
}
type WatchTimes = typeof watchTimes

/** Added to measured replay times, which may be a few milliseconds. */
const gatherMs = 100
/** Beyond any deadline in milliseconds: such a value was sent in microseconds. */
const maxDeadlineMs = 1e14
/** September 2001 in milliseconds: a lower value was sent in seconds. */
const minDeadlineMs = 1e12
/** Leaves room for the deadline in alert ids. */
const maxIdLength = 240
const forgetExpiredMs = 24 * 3_600_000
const missingCodes = ['not_found', 'not_implemented']

/** Follows the service's eviction stream with one key, from construction until `close`. */
export class EvictionWatch {
  readonly #holder: KeyHolder
  readonly #onEvent: (event: EvictionEvent) => void
  readonly #times: WatchTimes
  readonly #pending = new Map<string, number>()
  /** Past evictions that the service may still repeat. */
  readonly #expired = new Map<string, number>()
  readonly #closing = new AbortController()
  readonly #expiryTimer: NodeJS.Timeout
  readonly #firstAnswer: NodeJS.Timeout
  #upstream: EvictionStreamState | undefined
  lastHeardMs: number | null = null
  /** Events that could not be parsed, and the latest reason. */
  readonly unreadable: { count: number; reason: string | null } = { count: 0, reason: null }
  /** Connections in a row that sent unreadable events, and the time of the first event. */
  #unreadableRow = { connections: 0, sinceMs: 0 }
  #isUnreadable = false
  #wasLive = false
  /** Infinity while connecting. */
  #openedMs = Number.POSITIVE_INFINITY
  #events = 0
  /** Number of pending evictions replayed first; undefined if the service doesn't report it. */
  #toRepeat: number | undefined
  /** Devboxes whose eviction the current connection has not repeated yet. */
  #unrepeated = new Set<string>()
  /** Longest replay time of any connection; undefined while none replayed anything. */
  #replayMs: number | undefined
  #settling: NodeJS.Timeout | undefined
  #reconnect: () => void = () => undefined
  #wake = new AbortController()
  #waking: NodeJS.Timeout | undefined
  #failedMs = 0

  /** Evictions in `known` stay pending until the service stops repeating them. */
  constructor(
    holder: KeyHolder,
    onEvent: (event: EvictionEvent) => void,
    known: readonly Eviction[] = [],
    times: WatchTimes = watchTimes,
  ) {
    this.#holder = holder
    this.#onEvent = onEvent
    this.#times = times
    for (const { devbox_id, eviction_deadline_ms } of known)
      (this.#isExpired(eviction_deadline_ms) ? this.#expired : this.#pending).set(devbox_id, eviction_deadline_ms)
    this.#expiryTimer = setInterval(() => this.#removeExpired(), times.expiryCheckMs)
    this.#firstAnswer = setTimeout(() => this.#upstream ?? this.#setUpstream('retrying', 0), times.firstAnswerMs)
    keyAcceptedListeners().add(this.#onKeyAccepted)
    this.#watch()
  }

  deadlineOf(devboxId: string): number | undefined {
    return this.#pending.get(devboxId)
  }

  /** Whether the current connection may still be repeating what was pending before it opened. */
  get isReplaying(): boolean {
    if (this.#upstream?.state !== 'live') return true
    if (this.#toRepeat !== undefined) return this.#events < this.#toRepeat
    const windowMs = this.#replayMs === undefined ? this.#times.settleMs : 2 * this.#replayMs + gatherMs
    return Date.now() - this.#openedMs < windowMs
  }

  /** Set once two connections in a row sent unreadable events: a single one may be withdrawn or repeated correctly. */
  get unreadableSinceMs(): number | undefined {
    if (!this.#isUnreadable && !this.isReplaying) this.#unreadableRow.connections = 0
    const { connections, sinceMs } = this.#unreadableRow
    return connections > 1 ? sinceMs : undefined
  }

  /** Reconnects: the service repeats what is pending, and everything else is removed. */
  refresh(): void {
    this.#reconnect()
  }

  /** Removes an eviction that the service withdrew, which its stream does not report. */
  withdraw(devboxId: string): void {
    this.refresh()
    if (this.#pending.has(devboxId)) this.#remove(devboxId)
  }

  /** A call with the same key succeeded: retries a refused or broken connection sooner. */
  readonly #onKeyAccepted = (apiKey: string): void => {
    if (apiKey !== this.#holder.api_key || this.#upstream?.state === 'live' || this.#waking || this.#failedMs === 0)
      return
    const { firstMs, maxWakeMs, refusedWakeMs } = this.#times
    const { state, attempt = 0 } = this.#upstream ?? {}
    const spacingMs = state === 'refused' ? refusedWakeMs : Math.min(maxWakeMs, firstMs * 2 ** attempt)
    this.#waking = setTimeout(
      () => {
        this.#waking = undefined
        const waiting = this.#wake
        this.#wake = new AbortController()
        waiting.abort()
      },
      Math.max(0, this.#failedMs + spacingMs - Date.now()),
    )
  }

  close(): void {
    this.#closing.abort()
    keyAcceptedListeners().delete(this.#onKeyAccepted)
    clearInterval(this.#expiryTimer)
    clearTimeout(this.#firstAnswer)
    clearTimeout(this.#waking)
  }

  #watch(): void {
    void subscribe({
      session: this.#holder,
      topic: { endpoint: evictions.watch, read: (asked) => this.#read(asked) },
      asked: {},
      position: undefined,
      signal: this.#closing.signal,
      times: this.#times,
      opened: (response) => this.#begin(response),
      heard: () => {
        this.lastHeardMs = Date.now()
      },
      unreadable: () => this.#countUnreadable('Not JSON, or larger than 4 MiB'),
      retry: { refused: this.#times.refused, wake: () => this.#wake.signal },
      outlet: {
        data: () => undefined,
        room: () => undefined,
        resync: () => undefined,
        end: () => undefined,
        state: (state, error) => {
          if (state === 'live') return this.#setUpstream('live', 0)
          this.#failedMs = Date.now()
          const isRefused = error !== undefined && isFinalCode(error.code)
          const attempt = (this.#upstream?.attempt ?? 0) + 1
          const isMissing = !this.#wasLive && missingCodes.includes(error?.code ?? '')
          this.#setUpstream(isRefused ? 'refused' : 'retrying', attempt, error?.retry_at_ms, isMissing)
        },
      },
    })
  }

  /** Opens one connection after another. Throws when one fails before it delivered anything. */
  async *#read({ client, signal }: TopicRequest): AsyncGenerator<never> {
    for (;;) {
      const old = new AbortController()
      this.#reconnect = () => old.abort()
      const ageing = setTimeout(this.#reconnect, this.#times.refreshMs)
      const startedMs = Date.now()
      this.#openedMs = Number.POSITIVE_INFINITY
      this.#events = 0
      try {
        for await (const event of client.evictions.watch({ signal: AbortSignal.any([signal, old.signal]) }))
          this.#onStreamEvent(event)
        if (this.#events === 0 && Date.now() - this.#openedMs < this.#times.paceMs)
          throw new Error('The eviction stream ended')
      } catch (error) {
        const isRefreshed = old.signal.aborted
        const wasCut = this.#events > 0 && !(error instanceof ApiError)
        if (signal.aborted || !(isRefreshed || wasCut)) throw error
      } finally {
        clearTimeout(ageing)
        clearTimeout(this.#settling)
        this.#settleAtEnd()
      }
      // Some proxies end every stream after a few seconds.
      if (!old.signal.aborted)
        await pause(Math.max(this.#times.firstMs, startedMs + this.#times.paceMs - Date.now()), signal)
    }
  }

  #begin({ headers }: Response): void {
    this.#openedMs = Date.now()
    this.#wasLive = true
    this.#isUnreadable = false
    const toRepeat = headers.get(pendingCountHeader)
    this.#toRepeat = toRepeat !== null && /^\d+$/.test(toRepeat) ? Number(toRepeat) : undefined
    this.#unrepeated = new Set(this.#pending.keys())
    this.#scheduleSettle()
  }

  #onStreamEvent(event: unknown): void {
    const eviction = Eviction.safeParse(event).data
    if (eviction) this.#addEviction(eviction)
    else this.#countUnreadable('No valid devbox_id and eviction_deadline_ms')
    this.#events += 1
    if (this.#toRepeat === this.#events) this.#settle()
  }

  #addEviction(eviction: Eviction): void {
    const { devbox_id, eviction_deadline_ms } = eviction
    const isKnown = this.#pending.get(devbox_id) === eviction_deadline_ms
    if (this.#unrepeated.delete(devbox_id) && isKnown) {
      this.#replayMs = Math.max(this.#replayMs ?? 0, Date.now() - this.#openedMs)
      this.#scheduleSettle()
    }
    // A service may repeat a past eviction. Its clock may also have been ahead.
    const isPast = this.#expired.get(devbox_id) === eviction_deadline_ms && this.#isExpired(eviction_deadline_ms)
    if (isKnown || isPast) return
    const problem = this.#findProblem(eviction)
    if (problem !== undefined) {
      const isOver = eviction_deadline_ms > minDeadlineMs && this.#isExpired(eviction_deadline_ms)
      return void this.#countUnreadable(problem, isOver)
    }
    // The latest message wins: the service may move a deadline either way.
    this.#expired.delete(devbox_id)
    this.#pending.set(devbox_id, eviction_deadline_ms)
    this.#onEvent({ event: 'eviction', data: eviction, found_late: this.isReplaying })
  }

  #findProblem({ devbox_id, eviction_deadline_ms }: Eviction): string | undefined {
    if (devbox_id === '' || devbox_id.length > maxIdLength) return `devbox_id has ${devbox_id.length} characters`
    if (this.#isExpired(eviction_deadline_ms) || eviction_deadline_ms > maxDeadlineMs)
      return `Implausible deadline ${eviction_deadline_ms} (${new Date(eviction_deadline_ms).toISOString()}) for ${devbox_id}`
    return undefined
  }

  /** `isPast`: no eviction can have been missed. */
  #countUnreadable(reason: string, isPast = false): void {
    if (this.unreadable.count === 0)
      logWarning(`Unreadable event in the eviction stream of account ${this.#holder.account.id}: ${reason}`)
    this.unreadable.count += 1
    if (!isPast && !this.#isUnreadable) {
      if (this.#unreadableRow.connections === 0) this.#unreadableRow.sinceMs = Date.now()
      this.#unreadableRow.connections += 1
      this.#isUnreadable = true
    }
    this.unreadable.reason = reason
  }

  /** Removes unrepeated evictions after a grace period, if the service is known to repeat them at all. */
  #scheduleSettle(): void {
    clearTimeout(this.#settling)
    if (this.#toRepeat === 0) return void this.#settle()
    if (this.#toRepeat !== undefined || this.#replayMs === undefined) return
    const { withdrawnMs, refreshMs } = this.#times
    const atMs = Math.min(Math.max(withdrawnMs, 2 * this.#replayMs), 0.9 * refreshMs)
    this.#settling = setTimeout(() => this.#settle(), this.#openedMs + atMs - Date.now())
  }

  /** If a proxy ends each connection early, one that repeated something and lasted long enough settles too. */
  #settleAtEnd(): void {
    if (this.#toRepeat !== undefined || this.#replayMs === undefined || this.#events === 0) return
    if (Date.now() - this.#openedMs >= Math.max(this.#times.settleMs, 2 * this.#replayMs)) this.#settle()
  }

  #settle(): void {
    // An unreadable event may repeat any of them.
    if (this.#isUnreadable) return
    for (const id of this.#unrepeated) if (this.#pending.has(id)) this.#remove(id)
    this.#unrepeated.clear()
  }

  #remove(devbox_id: string): void {
    this.#pending.delete(devbox_id)
    this.#onEvent({ event: 'removed', data: { devbox_id } })
  }

  #isExpired(deadlineMs: number): boolean {
    return serviceNow() - deadlineMs > this.#times.passedMs
  }

  #removeExpired(): void {
    for (const [id, deadlineMs] of this.#pending)
      if (this.#isExpired(deadlineMs)) {
        this.#expired.set(id, deadlineMs)
        this.#remove(id)
      }
    for (const [id, deadlineMs] of this.#expired)
      if (serviceNow() - deadlineMs > forgetExpiredMs) this.#expired.delete(id)
  }

  #setUpstream(state: EvictionStreamState['state'], attempt: number, retry_at_ms?: number, isMissing = false): void {
    if (state === this.#upstream?.state && attempt === this.#upstream.attempt) return
    this.#upstream = {
      state,
      attempt,
      ...(retry_at_ms !== undefined && { retry_at_ms }),
      ...(isMissing && { is_missing: true }),
    }
    this.#onEvent({ event: 'upstream', data: this.#upstream })
  }
}
