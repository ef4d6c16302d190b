import { randomUUID } from 'node:crypto'
import { pause } from '#lib/client/backoff.ts'
import type { Alert, Delivery, Receiver } from '#lib/protocol/alerts.ts'
import type { Channel, ChannelState } from './channel.ts'
import { heartbeatRequest } from './formats.ts'
import { shownDeliveries } from './outbox.ts'
import { type Outcome, post, targetUnreadable } from './post.ts'
import type { ReceiverSettings } from './receiver-fields.ts'
import type { SenderOptions } from './sender.ts'

type Options = Pick<SenderOptions, 'account' | 'times' | 'onChange'> & {
  /** Whether the console sees evictions and other alerts of the account. */
  sees(): boolean
}

/** Sends a heartbeat at an interval while the console sees alerts; its receiver raises an alarm when they stop. */
export class Heartbeat implements Channel {
  readonly #options: Options
  readonly #closing = new AbortController()
  #settings: ReceiverSettings
  readonly #deliveries: Delivery[] = []
  #failure: Receiver['failure'] = null
  #failures = 0
  #nextMs: number | null = null
  #waking = new AbortController()

  constructor(settings: ReceiverSettings, options: Options) {
    this.#settings = settings
    this.#options = options
    void this.#run()
  }

  state(): ChannelState {
    return { failure: this.#failure, waiting: 0, next_try_ms: this.#nextMs, deliveries: this.#deliveries }
  }

  push(): void {
    // Heartbeats contain no alerts.
  }

  update(settings: ReceiverSettings): void {
    this.#settings = settings
    this.retryNow()
  }

  retryNow(): void {
    this.#waking.abort()
  }

  test(_alert: Alert): Promise<Delivery> {
    return this.#beat()
  }

  async stop(): Promise<void> {
    this.close()
  }

  close(): void {
    this.#closing.abort()
    this.#waking.abort()
  }

  async #run(): Promise<void> {
    const { heartbeatMs } = this.#options.times
    while (!this.#closing.signal.aborted) {
      const canBeat = !this.#settings.is_paused && this.#options.sees()
      if (canBeat) await this.#beat()
      if (this.#closing.signal.aborted) return
      const everyMs = heartbeatMs ?? (this.#settings.every_seconds ?? 60) * 1000
      const waitMs = canBeat ? everyMs : Math.min(everyMs, recheckMs)
      this.#nextMs = canBeat ? Date.now() + waitMs : null
      this.#waking = new AbortController()
      await pause(waitMs, this.#waking.signal)
    }
  }

  async #beat(): Promise<Delivery> {
    const delivery: Delivery = {
      id: randomUUID(),
      event: 'heartbeat',
      n_alerts: 0,
      at_ms: Date.now(),
      attempts: 1,
      state: 'waiting',
      answer: '',
      text: '',
    }
    this.#deliveries.unshift(delivery)
    this.#deliveries.length = Math.min(this.#deliveries.length, shownDeliveries)
    const { result, answer } = await this.#post(delivery)
    Object.assign(delivery, { answer, state: result === 'accepted' ? 'delivered' : 'failed' })
    this.#failures = result === 'accepted' ? 0 : this.#failures + 1
    // A single failed heartbeat does not count as a failure.
    if (this.#failures !== 1) this.#setFailure(result === 'accepted' ? null : answer)
    return delivery
  }

  async #post(delivery: Delivery): Promise<Outcome> {
    const { account, times } = this.#options
    const target = await this.#settings.target()
    if (!target) return targetUnreadable
    return post(heartbeatRequest(target, delivery, { account, nowMs: Date.now() }), {
      isPrivateAllowed: this.#settings.isPrivateAllowed,
      timeoutMs: times.timeoutMs,
      signal: this.#closing.signal,
    })
  }

  #setFailure(answer: string | null): void {
    if (answer === (this.#failure?.answer ?? null)) return
    const { since_ms = Date.now() } = this.#failure ?? {}
    this.#failure = answer === null ? null : { since_ms, answer }
    this.#options.onChange()
  }
}

/** Heartbeats resume this soon after an outage. */
const recheckMs = 2_000
