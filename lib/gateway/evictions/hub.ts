import { createHash } from 'node:crypto'
import { Eviction, evictions } from '#lib/contract/evictions.ts'
import type { RelayData, RelayEvent, RelayUpstream } from '#lib/wire/evictions.ts'
import type { KeyHolder } from '../accounts/signed-in.ts'
import { serviceNow } from '../http/service-clock.ts'
import { subscribe, subscriptionTimes } from '../live/subscription.ts'
import type { Asked } from '../live/topics.ts'
import { registry } from '../registry.ts'
import type { EvictionListener, EvictionWatch } from './listener.ts'

export const relayTimes = {
  ...subscriptionTimes,
  /** A service that is away for ten minutes is asked some thirty times: each console of a team holds such a stream. */
  maxMs: 30_000,
  heartbeatMs: 15_000,
  /** The upstream stream stays open this long after the last browser has left. */
  lingerMs: 30_000,
  /** After a connection goes live, the service has repeated every pending eviction within this time. */
  settleMs: 3_000,
  /** How long an eviction is still told after its deadline. */
  passedMs: 60_000,
  /** The stream says nothing when an eviction is taken back, and may lose an event; a new connection repeats them all. */
  refreshMs: 60_000,
  /** A refused key is tried again no sooner than this, and only when a browser asks. */
  refusedMs: 60_000,
  /** A new browser waits at most this long for what the service tells first, so that it starts with all of it. */
  firstAnswerMs: 2_000,
}
type RelayTimes = typeof relayTimes

/** The service repeats what is pending right after its headers; this gathers it into the first snapshot. */
const gatherMs = 100

/** Every watch of the account, whatever the keys they are under. */
export const evictionHubsOf = (accountId: string): EvictionWatch[] =>
  [...registry().evictionHubs].filter(([key]) => key.startsWith(`${accountId} `)).map(([, hub]) => hub)

/** Names a key by its hash, so that the key itself is never used as a name. */
export const hashOfKey = (apiKey: string) => createHash('sha256').update(apiKey).digest('hex')

const hubKey = ({ account, api_key }: KeyHolder) => `${account.id} ${hashOfKey(api_key)}`

/** The one watch of an account under a key of it, begun with the first who asks for it. */
export const evictionHubFor = (holder: KeyHolder): EvictionWatch => {
  const { evictionHubs } = registry()
  const key = hubKey(holder)
  const found = evictionHubs.get(key)
  if (found) return found
  const hub = new EvictionHub(holder, () => {
    if (evictionHubs.get(key) === hub) evictionHubs.delete(key)
  })
  evictionHubs.set(key, hub)
  return hub
}

/** One watch of an account's evictions, fanned out to any number of listeners. */
export class EvictionHub implements EvictionWatch {
  readonly #holder: KeyHolder
  readonly #onClose: () => void
  readonly #times: RelayTimes
  readonly #pending = new Map<string, number>()
  readonly #listeners = new Set<EvictionListener>()
  readonly #closing = new AbortController()
  readonly #heartbeat: NodeJS.Timeout
  #linger: NodeJS.Timeout | undefined
  #upstream: RelayUpstream = { state: 'retrying', since_ms: Date.now(), attempt: 0 }
  #isWatching = false
  /** The last sign of life of the service's stream. */
  lastHeardMs: number | null = null
  /** Events of the service's stream that could not be understood, since it was first watched. */
  unreadable = 0
  #answered = Promise.resolve()
  /** The devboxes that the present connection has named. */
  #reported = new Set<string>()
  #settling: NodeJS.Timeout | undefined
  /** Ends the present connection, so that a new one repeats everything that is pending. */
  #endOld: () => void = () => undefined

  constructor(holder: KeyHolder, onClose: () => void = () => undefined, times: RelayTimes = relayTimes) {
    this.#holder = holder
    this.#onClose = onClose
    this.#times = times
    this.#heartbeat = setInterval(() => this.#beat(), times.heartbeatMs)
  }

  /** Tells `listener` everything, and then what changes, until it leaves. */
  join(listener: EvictionListener): void {
    this.#listeners.add(listener)
    clearTimeout(this.#linger)
    this.#watchAgain()
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

  /** Connects anew: the service then repeats what is still pending, and what it does not repeat is removed. */
  refresh(): void {
    this.#endOld()
  }

  withdraw(devboxId: string): void {
    this.refresh()
    if (this.#pending.has(devboxId)) this.#remove(devboxId)
  }

  close(): void {
    this.#closing.abort()
    clearInterval(this.#heartbeat)
    clearTimeout(this.#linger)
    for (const listener of [...this.#listeners]) listener.end()
    clearTimeout(this.#linger)
    this.#onClose()
  }

  #watchAgain(): void {
    if (this.#isWatching) return
    const { state, since_ms } = this.#upstream
    if (state === 'refused' && Date.now() - since_ms < this.#times.refusedMs) return
    this.#isWatching = true
    const answered = Promise.withResolvers<void>()
    this.#answered = answered.promise
    setTimeout(answered.resolve, this.#times.firstAnswerMs)
    void subscribe({
      session: this.#holder,
      topic: { endpoint: evictions.watch, read: (asked) => this.#read(asked) },
      asked: {},
      position: undefined,
      signal: this.#closing.signal,
      times: this.#times,
      heard: () => {
        this.lastHeardMs = Date.now()
      },
      outlet: {
        data: () => undefined,
        room: () => undefined,
        resync: () => undefined,
        state: (state, error) => {
          if (state === 'live') return this.#begin(answered.resolve)
          this.#setUpstream('retrying', this.#upstream.attempt + 1, error?.retry_at_ms)
          answered.resolve()
        },
        end: () => {
          this.#setUpstream('refused', this.#upstream.attempt)
          answered.resolve()
        },
      },
    }).finally(() => {
      this.#isWatching = false
    })
  }

  #begin(onAnswered: () => void): void {
    this.#setUpstream('live', 0)
    setTimeout(onAnswered, gatherMs)
    this.#reported = new Set()
    this.#settling = setTimeout(() => this.#removeAllBut(this.#reported), this.#times.settleMs)
  }

  /** One connection after the other, each until it is old; rejects when one breaks. */
  async *#read({ client, signal }: Asked): AsyncGenerator<never> {
    for (;;) {
      const old = new AbortController()
      this.#endOld = () => old.abort()
      const ageing = setTimeout(this.#endOld, this.#times.refreshMs)
      try {
        for await (const told of client.evictions.watch({ signal: AbortSignal.any([signal, old.signal]) })) {
          const eviction = Eviction.safeParse(told).data
          if (!eviction) {
            this.unreadable += 1
            continue
          }
          this.#reported.add(eviction.devbox_id)
          this.#report(eviction)
        }
        throw new Error('The stream of evictions ended')
      } catch (error) {
        if (signal.aborted || !old.signal.aborted) throw error
      } finally {
        clearTimeout(ageing)
        clearTimeout(this.#settling)
      }
    }
  }

  /** The latest deadline received wins, even an earlier one: the service may move it either way. */
  #report({ devbox_id, eviction_deadline_ms }: Eviction): void {
    if (this.#pending.get(devbox_id) === eviction_deadline_ms) return
    if (this.#hasPassed(eviction_deadline_ms)) return
    this.#pending.set(devbox_id, eviction_deadline_ms)
    this.#tell({ event: 'eviction', data: { devbox_id, eviction_deadline_ms } })
  }

  #removeAllBut(reported: ReadonlySet<string>): void {
    for (const id of [...this.#pending.keys()]) if (!reported.has(id)) this.#remove(id)
  }

  #remove(devbox_id: string): void {
    this.#pending.delete(devbox_id)
    this.#tell({ event: 'removed', data: { devbox_id } })
  }

  #hasPassed(deadlineMs: number): boolean {
    return serviceNow() - deadlineMs > this.#times.passedMs
  }

  #beat(): void {
    for (const [id, deadlineMs] of [...this.#pending]) if (this.#hasPassed(deadlineMs)) this.#remove(id)
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
