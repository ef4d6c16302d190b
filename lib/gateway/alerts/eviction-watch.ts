import { createHash } from 'node:crypto'
import { ApiError, isFinalCode } from '#lib/client/api-error.ts'
import { pause } from '#lib/client/backoff.ts'
import { Eviction, evictions, pendingCountHeader } from '#lib/contract/evictions.ts'
import type { RelayData, RelayEvent, RelayUpstream } from '#lib/protocol/evictions.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { subscribe, subscriptionTimes } from '../live/subscription.ts'
import type { Asked } from '../live/topics.ts'
import { registry } from '../registry/registry.ts'
import { serviceNow } from '../upstream/clock.ts'
import type { EvictionListener, EvictionWatch, UnreadableEvents } from './eviction-listener.ts'

export const relayTimes = {
  ...subscriptionTimes,
  /** About thirty attempts in ten minutes: each console of a team holds such a stream. */
  maxMs: 30_000,
  /** With `refused`, the longest waits: whatever the service answers, it is retried every minute. */
  maxRetryAfterMs: 50_000,
  refused: { firstMs: 5_000, maxMs: 45_000 },
  /** Shortest time between two attempts that follow successful calls with the same key. */
  maxWakeMs: 5_000,
  heartbeatMs: 15_000,
  /** The upstream stream stays open this long after the last browser has left. */
  lingerMs: 30_000,
  /** A service that takes longer to repeat pending evictions is given twice the longest time it took. */
  settleMs: 3_000,
  /** Pending evictions that a connection has not repeated by then are over, whatever earlier ones took. */
  withdrawnMs: 30_000,
  /** How long an eviction is reported after its deadline. */
  passedMs: 60_000,
  /** The stream reports no withdrawals and may lose events; a new connection repeats what is pending. */
  refreshMs: 60_000,
  /** Shortest time between two connections where a proxy ends each one early. */
  paceMs: 1_000,
  /** A new browser waits at most this long for the first answer, so that it starts with everything. */
  firstAnswerMs: 2_000,
}
type RelayTimes = typeof relayTimes

/** The service repeats what is pending right after its headers; this gathers it into the first snapshot. */
const gatherMs = 100

/** Later than any deadline in milliseconds: what is beyond was sent in microseconds. */
const maxDeadlineMs = 1e14
/** With the deadline behind it, an id still fits where alerts are named. */
const maxIdLength = 240
const forgetPassedMs = 24 * 3_600_000

/** Every watch of the account, one for each of its keys. */
export const evictionWatchesOf = (accountId: string): EvictionWatch[] =>
  [...registry().evictionHubs].filter(([key]) => key.startsWith(`${accountId} `)).map(([, hub]) => hub)

/** Names a key by its hash, so that the key itself is never used as a name. */
export const hashOfKey = (apiKey: string) => createHash('sha256').update(apiKey).digest('hex')

const hubKey = ({ account, api_key }: KeyHolder) => `${account.id} ${hashOfKey(api_key)}`

/** The one watch for a key of an account, started with its first listener. */
export const evictionWatchFor = (holder: KeyHolder): EvictionWatch => {
  const { evictionHubs } = registry()
  const key = hubKey(holder)
  const found = evictionHubs.get(key)
  if (found) return found
  const hub = new EvictionStreamWatch(holder, () => {
    if (evictionHubs.get(key) === hub) evictionHubs.delete(key)
  })
  evictionHubs.set(key, hub)
  return hub
}

/** One watch of an account's evictions, fanned out to any number of listeners. */
export class EvictionStreamWatch implements EvictionWatch {
  readonly #holder: KeyHolder
  readonly #onClose: () => void
  readonly #times: RelayTimes
  readonly #pending = new Map<string, number>()
  /** Evictions that are over but may still be repeated. */
  readonly #passed = new Map<string, number>()
  readonly #listeners = new Set<EvictionListener>()
  readonly #closing = new AbortController()
  readonly #heartbeat: NodeJS.Timeout
  readonly #answered: Promise<void>
  #linger: NodeJS.Timeout | undefined
  #upstream: RelayUpstream = { state: 'retrying', since_ms: Date.now(), attempt: 0 }
  lastHeardMs: number | null = null
  readonly unreadable: UnreadableEvents = { count: 0, reason: null }
  /** Infinity while connecting. */
  #openedMs = Number.POSITIVE_INFINITY
  /** Events of the current connection. */
  #events = 0
  /** Pending evictions that the current connection will repeat first; undefined where the service does not say. */
  #toRepeat: number | undefined
  /** Devboxes pending when the current connection opened that it has not repeated. */
  #unrepeated = new Set<string>()
  /** Longest time a connection took to repeat an eviction; undefined until one did, which some services never do. */
  #replayMs: number | undefined
  #settling: NodeJS.Timeout | undefined
  /** Ends the current connection, so that a new one repeats everything pending. */
  #endOld: () => void = () => undefined
  #wake = new AbortController()
  #waking: NodeJS.Timeout | undefined
  #failedMs = 0

  constructor(holder: KeyHolder, onClose: () => void = () => undefined, times: RelayTimes = relayTimes) {
    this.#holder = holder
    this.#onClose = onClose
    this.#times = times
    this.#heartbeat = setInterval(() => this.#beat(), times.heartbeatMs)
    const answered = Promise.withResolvers<void>()
    this.#answered = answered.promise
    setTimeout(answered.resolve, times.firstAnswerMs)
    this.#watch(answered.resolve)
  }

  join(listener: EvictionListener, known: readonly Eviction[] = []): void {
    this.#listeners.add(listener)
    clearTimeout(this.#linger)
    this.#remember(known)
    void this.#answered.then(() => this.#listeners.has(listener) && listener.start(this.everything()))
  }

  leave(listener: EvictionListener): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
    this.#linger = setTimeout(() => this.close(), this.#times.lingerMs)
  }

  /** Every pending eviction, and how far the list can be trusted. */
  everything(): RelayData['snapshot'] {
    const evictions = [...this.#pending].map(([devbox_id, eviction_deadline_ms]) => ({
      devbox_id,
      eviction_deadline_ms,
    }))
    return { evictions, upstream: this.#upstream }
  }

  deadlineOf(devboxId: string): number | undefined {
    return this.#pending.get(devboxId)
  }

  get isReplaying(): boolean {
    if (this.#upstream.state !== 'live') return true
    if (this.#toRepeat !== undefined) return this.#events < this.#toRepeat
    const windowMs = this.#replayMs === undefined ? this.#times.settleMs : 2 * this.#replayMs + gatherMs
    return Date.now() - this.#openedMs < windowMs
  }

  /** Connects anew: the service repeats what is still pending, and what it does not repeat is removed. */
  refresh(): void {
    this.#endOld()
  }

  withdraw(devboxId: string): void {
    this.refresh()
    if (this.#pending.has(devboxId)) this.#remove(devboxId)
  }

  onKeyAccepted(apiKey: string): void {
    if (apiKey !== this.#holder.api_key || this.#upstream.state === 'live' || this.#waking || this.#failedMs === 0)
      return
    const spacingMs = Math.min(this.#times.maxWakeMs, this.#times.firstMs * 2 ** this.#upstream.attempt)
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
    clearInterval(this.#heartbeat)
    clearTimeout(this.#linger)
    clearTimeout(this.#waking)
    for (const listener of [...this.#listeners]) listener.end()
    clearTimeout(this.#linger)
    this.#onClose()
  }

  #watch(onAnswered: () => void): void {
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
      unreadable: () => this.#misunderstand('It is not JSON, or longer than 4 MiB'),
      retry: { refused: this.#times.refused, wake: () => this.#wake.signal },
      outlet: {
        data: () => undefined,
        room: () => undefined,
        resync: () => undefined,
        state: (state, error) => {
          if (state === 'live') {
            this.#setUpstream('live', 0)
            return void setTimeout(onAnswered, gatherMs)
          }
          this.#failedMs = Date.now()
          const isRefused = error !== undefined && isFinalCode(error.code)
          this.#setUpstream(isRefused ? 'refused' : 'retrying', this.#upstream.attempt + 1, error?.retry_at_ms)
          onAnswered()
        },
        end: onAnswered,
      },
    })
  }

  /** One connection after the other, each until it is old or cut; rejects when one fails without having worked. */
  async *#read({ client, signal }: Asked): AsyncGenerator<never> {
    for (;;) {
      const old = new AbortController()
      this.#endOld = () => old.abort()
      const ageing = setTimeout(this.#endOld, this.#times.refreshMs)
      const startedMs = Date.now()
      this.#openedMs = Number.POSITIVE_INFINITY
      this.#events = 0
      try {
        for await (const event of client.evictions.watch({ signal: AbortSignal.any([signal, old.signal]) }))
          this.#take(event)
        if (this.#events === 0 && Date.now() - this.#openedMs < this.#times.paceMs)
          throw new Error('The stream of evictions ended')
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
    const toRepeat = headers.get(pendingCountHeader)
    this.#toRepeat = toRepeat !== null && /^\d+$/.test(toRepeat) ? Number(toRepeat) : undefined
    this.#unrepeated = new Set(this.#pending.keys())
    this.#settleInTime()
  }

  #take(event: unknown): void {
    const eviction = Eviction.safeParse(event).data
    if (eviction) this.#takeEviction(eviction)
    else this.#misunderstand('It has no devbox_id and eviction_deadline_ms as the service documents them')
    this.#events += 1
    if (this.#toRepeat === this.#events) this.#settle()
  }

  #takeEviction(eviction: Eviction): void {
    const { devbox_id, eviction_deadline_ms } = eviction
    const isKnown = this.#pending.get(devbox_id) === eviction_deadline_ms
    if (this.#unrepeated.delete(devbox_id) && isKnown) {
      this.#replayMs = Math.max(this.#replayMs ?? 0, Date.now() - this.#openedMs)
      this.#settleInTime()
    }
    // A service may repeat an eviction that is over.
    if (isKnown || this.#passed.get(devbox_id) === eviction_deadline_ms) return
    const problem = this.#problemOf(eviction)
    if (problem !== undefined) return void this.#misunderstand(problem)
    // The latest deadline received wins, even an earlier one: the service may move it either way.
    this.#pending.set(devbox_id, eviction_deadline_ms)
    this.#tell({ event: 'eviction', data: { devbox_id, eviction_deadline_ms } })
  }

  /** Why this cannot be an eviction that is ahead. */
  #problemOf({ devbox_id, eviction_deadline_ms }: Eviction): string | undefined {
    if (devbox_id === '' || devbox_id.length > maxIdLength) return `Its devbox_id has ${devbox_id.length} characters`
    if (this.#hasPassed(eviction_deadline_ms) || eviction_deadline_ms > maxDeadlineMs)
      return `The deadline ${eviction_deadline_ms} of ${devbox_id} would be ${new Date(eviction_deadline_ms).toISOString()}`
    return undefined
  }

  #misunderstand(reason: string): void {
    if (this.unreadable.count === 0)
      console.error(
        `An event of the eviction stream of account ${this.#holder.account.id} was not understood: ${reason}`,
      )
    this.unreadable.count += 1
    this.unreadable.reason = reason
  }

  #remember(known: readonly Eviction[]): void {
    let isNew = false
    for (const { devbox_id, eviction_deadline_ms } of known) {
      if (this.#hasPassed(eviction_deadline_ms)) this.#passed.set(devbox_id, eviction_deadline_ms)
      else if (!this.#pending.has(devbox_id)) {
        isNew = true
        this.#pending.set(devbox_id, eviction_deadline_ms)
        this.#tell({ event: 'eviction', data: { devbox_id, eviction_deadline_ms } })
      }
    }
    // An open connection may have repeated everything already.
    if (isNew && this.#openedMs < Number.POSITIVE_INFINITY) this.refresh()
  }

  /** What is pending is over once a service that repeats evictions has had time to, and did not. */
  #settleInTime(): void {
    clearTimeout(this.#settling)
    if (this.#toRepeat === 0) return void this.#settle()
    if (this.#toRepeat !== undefined || this.#replayMs === undefined) return
    const { withdrawnMs, refreshMs } = this.#times
    const atMs = Math.min(Math.max(withdrawnMs, 2 * this.#replayMs), 0.9 * refreshMs)
    this.#settling = setTimeout(() => this.#settle(), this.#openedMs + atMs - Date.now())
  }

  /** Where a proxy ends each connection early, one that has repeated something and stayed long enough counts. */
  #settleAtEnd(): void {
    if (this.#toRepeat !== undefined || this.#replayMs === undefined || this.#events === 0) return
    if (Date.now() - this.#openedMs >= Math.max(this.#times.settleMs, 2 * this.#replayMs)) this.#settle()
  }

  #settle(): void {
    for (const id of this.#unrepeated) if (this.#pending.has(id)) this.#remove(id)
    this.#unrepeated.clear()
  }

  #remove(devbox_id: string): void {
    this.#pending.delete(devbox_id)
    this.#tell({ event: 'removed', data: { devbox_id } })
  }

  #hasPassed(deadlineMs: number): boolean {
    return serviceNow() - deadlineMs > this.#times.passedMs
  }

  #beat(): void {
    for (const [id, deadlineMs] of this.#pending)
      if (this.#hasPassed(deadlineMs)) {
        this.#passed.set(id, deadlineMs)
        this.#remove(id)
      }
    for (const [id, deadlineMs] of this.#passed) if (serviceNow() - deadlineMs > forgetPassedMs) this.#passed.delete(id)
    this.#tell({ event: 'heartbeat', data: { now_ms: serviceNow() } })
  }

  #setUpstream(state: RelayUpstream['state'], attempt: number, retry_at_ms?: number): void {
    const before = this.#upstream
    if (state === before.state && attempt === before.attempt) return
    const since_ms = state === before.state ? before.since_ms : Date.now()
    this.#upstream = { state, attempt, since_ms, ...(retry_at_ms !== undefined && { retry_at_ms }) }
    this.#tell({ event: 'upstream', data: this.#upstream })
  }

  #tell(event: RelayEvent): void {
    for (const listener of this.#listeners) listener.tell(event)
  }
}
