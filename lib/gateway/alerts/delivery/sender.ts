import { randomUUID } from 'node:crypto'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import { type Alert, type Delivery, groupKeyOf, type Receiver } from '#lib/protocol/alerts.ts'
import type { Channel, ChannelState, DeliveryTimes } from './channel.ts'
import { requestOf, textOf } from './formats.ts'
import { type Message, type Outbox, shownDeliveries } from './outbox.ts'
import { type Outcome, post, targetOver, targetUnreadable } from './post.ts'
import type { ReceiverSettings } from './receiver-fields.ts'

/** About 2.5 MB of JSON. */
const maxPerDelivery = 5_000
const maxRejections = 4
const longWaitMs = 60_000

export interface SenderOptions {
  /** Identifies the account in the outbox. */
  stored: string
  account: { id: string; name: string }
  outbox: Outbox
  times: DeliveryTimes
  urlOf(alertId: string): string
  /** All open alerts of the account. */
  open(): Alert[]
  /** Called when the receiver starts or stops failing. */
  onChange(): void
  /** Called when a browser no longer gets push messages. */
  onGone?(id: string): void
}

interface BoundDelivery {
  delivery: Delivery
  messages: readonly Message[]
}

/**
 * Delivers the messages of one receiver, one delivery at a time. The messages of an alert stay in order. A delivery is
 * stored before it is sent; its id stays the same on every try and after a restart.
 */
export class Sender implements Channel {
  readonly #options: SenderOptions
  readonly #closing = new AbortController()
  #settings: ReceiverSettings
  #queue: Message[]
  #current: BoundDelivery | undefined
  readonly #deliveries: Delivery[]
  #failure: Receiver['failure'] = null
  #rejections = 0
  #maxPerDelivery = maxPerDelivery
  /** In `performance.now()` time: the wall clock may jump. */
  #tryAtMs = 0
  #isRunning = false
  #isStopped = false
  #trying: Promise<void> | undefined
  #waking = new AbortController()

  constructor(settings: ReceiverSettings, options: SenderOptions) {
    this.#settings = settings
    this.#options = options
    const { outbox, stored } = options
    const { messages, bound } = outbox.waiting(stored, settings.id)
    this.#queue = messages
    this.#current = bound
    this.#deliveries = outbox
      .deliveries(stored, settings.id)
      .map((delivery) => (delivery.id === bound?.delivery.id ? bound.delivery : delivery))
    for (const delivery of this.#deliveries)
      if (delivery.state === 'waiting' && delivery !== bound?.delivery) this.#end(delivery, 'failed', 'interrupted')
    const latest = this.#deliveries.find(({ attempts }) => attempts > 0)
    if (latest && (latest.state === 'failed' || (latest.state === 'waiting' && latest.attempts > 1)))
      this.#failure = { since_ms: latest.at_ms, answer: latest.answer }
    void this.#run()
  }

  state(): ChannelState {
    const isRetrying = this.#current !== undefined && this.#current.delivery.attempts > 0
    return {
      failure: this.#failure,
      waiting: this.#queue.length,
      next_try_ms: isRetrying ? Date.now() + Math.max(0, Math.round(this.#tryAtMs - performance.now())) : null,
      deliveries: this.#deliveries,
    }
  }

  push(messages: readonly Message[]): void {
    this.#queue.push(...messages)
    void this.#run()
  }

  update(settings: ReceiverSettings): void {
    this.#settings = settings
    this.#rejections = 0
    this.retryNow()
  }

  retryNow(): void {
    this.#tryAtMs = 0
    this.#waking.abort()
    void this.#run()
  }

  async test(alert: Alert): Promise<Delivery> {
    const delivery = this.#newDelivery('alert.test', Date.now(), [alert])
    this.#options.outbox.bind(this.#options.stored, this.#settings.id, delivery, [])
    const { result, answer, isGone } = await this.#send(delivery, [alert])
    if (this.#closing.signal.aborted) return delivery
    const isAccepted = result === 'accepted'
    delivery.attempts = 1
    if (isGone) {
      this.#options.onGone?.(this.#settings.id)
      return { ...delivery, state: 'failed', answer }
    }
    this.#end(delivery, isAccepted ? 'delivered' : 'failed', answer)
    this.#setFailure(isAccepted ? null : answer)
    if (isAccepted) this.retryNow()
    return delivery
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waking.abort()
    await this.#trying
  }

  close(): void {
    this.#closing.abort()
    this.#waking.abort()
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (let waitMs = this.#waitMs(); waitMs !== undefined; waitMs = this.#waitMs()) {
      if (waitMs <= 0) {
        this.#trying = this.#try()
        await this.#trying
      } else {
        this.#waking = new AbortController()
        await pause(waitMs, this.#waking.signal)
      }
    }
    this.#isRunning = false
  }

  /** Time until the next try; undefined if there is nothing to send. */
  #waitMs(): number | undefined {
    if (this.#isStopped || this.#closing.signal.aborted || this.#settings.is_paused) return undefined
    if (this.#current) return this.#tryAtMs - performance.now()
    const batch = this.#batch()
    const [first] = batch
    const last = batch.at(-1)
    if (!first || !last) return undefined
    const { batchMs, maxBatchMs } = this.#options.times
    const readyMs = Math.min(last.at_ms + batchMs, first.at_ms + maxBatchMs)
    return batch.length < this.#maxPerDelivery ? Math.min(readyMs - Date.now(), batchMs) : 0
  }

  /** PagerDuty and browsers get one group per message. */
  #batch(): Message[] {
    const { format } = this.#settings
    const groupOf = format === 'pagerduty' || format === 'push' ? groupKeyOf : () => ''
    return nextBatch(this.#queue, { ...this.#options.times, max: this.#maxPerDelivery, nowMs: Date.now(), groupOf })
  }

  async #try(): Promise<void> {
    this.#current ??= this.#bind()
    const bound = this.#current
    const { delivery, messages } = bound
    const settings = this.#settings
    const outcome = await this.#send(
      delivery,
      messages.map(({ alert }) => alert),
    )
    if (this.#closing.signal.aborted) return
    const { result, answer } = outcome
    delivery.attempts += 1
    // The receiver was changed during the try.
    if (result !== 'accepted' && settings !== this.#settings) return
    if (outcome.isGone) return this.#options.onGone?.(settings.id)
    if (result === 'rejected') this.#rejections += 1
    if (result === 'accepted') this.#setFailure(null)
    // A single failed try does not count as a failure, unless the next one has to wait.
    else if (result === 'rejected' || delivery.attempts > 1 || (outcome.retryAfterMs ?? 0) > longWaitMs)
      this.#setFailure(answer)
    if (outcome.isTooLarge && messages.length > 1) return this.#split(delivery, messages.length)
    if (result === 'accepted') return this.#finish(bound, 'delivered', answer)
    if (this.#rejections >= maxRejections || this.#isTooLate(bound)) return this.#finish(bound, 'failed', answer)
    delivery.answer = answer
    this.#options.outbox.record(this.#options.stored, this.#settings.id, delivery)
    this.#tryAtMs = performance.now() + this.#retryMs(outcome, delivery.attempts)
  }

  #bind(): BoundDelivery {
    const messages = this.#batch()
    const [{ event, at_ms }] = messages as [Message, ...Message[]]
    const alerts = messages.map(({ alert }) => alert)
    const delivery = this.#newDelivery(event, at_ms, alerts)
    this.#options.outbox.bind(this.#options.stored, this.#settings.id, delivery, messages)
    return { delivery, messages }
  }

  #newDelivery(event: Delivery['event'], at_ms: number, alerts: readonly Alert[]): Delivery {
    const delivery: Delivery = {
      id: randomUUID(),
      event,
      n_alerts: alerts.length,
      at_ms,
      attempts: 0,
      state: 'waiting',
      answer: '',
      text: '',
    }
    delivery.text = textOf({ delivery, alerts: bySoonest(alerts) }, this.#context())
    this.#deliveries.unshift(delivery)
    this.#deliveries.length = Math.min(this.#deliveries.length, shownDeliveries)
    return delivery
  }

  async #send(delivery: Delivery, alerts: readonly Alert[]): Promise<Outcome> {
    const { id, format, push, isPrivateAllowed, isOver, target: openTarget } = this.#settings
    const target = await openTarget()
    if (!target) return push ? targetOver : targetUnreadable
    if (await isOver?.()) return targetOver
    const open = this.#options.open().filter(({ receivers }) => receivers?.includes(id))
    const context = { ...this.#context(), showsNames: push?.shows_names === true }
    const request = requestOf(format, target, { delivery, alerts: bySoonest(alerts), open }, context)
    if (!request) return { result: 'accepted', answer: 'unchanged' }
    const { timeoutMs } = this.#options.times
    const outcome = await post(request, { isPrivateAllowed, timeoutMs, signal: this.#closing.signal })
    return push ? outcome : { ...outcome, isGone: false }
  }

  #context() {
    const { account, urlOf } = this.#options
    return { account, urlOf, nowMs: Date.now() }
  }

  /** Sends the messages in smaller deliveries. */
  #split(delivery: Delivery, count: number): void {
    this.#maxPerDelivery = Math.ceil(count / 2)
    this.#options.outbox.release(delivery)
    this.#deliveries.splice(this.#deliveries.indexOf(delivery), 1)
    this.#current = undefined
    this.#rejections = 0
  }

  #finish({ delivery, messages }: BoundDelivery, state: 'delivered' | 'failed', answer: string): void {
    const sent = new Set(messages)
    this.#queue = this.#queue.filter((message) => !sent.has(message))
    this.#current = undefined
    this.#rejections = 0
    this.#tryAtMs = 0
    this.#end(delivery, state, answer)
  }

  #end(delivery: Delivery, state: 'delivered' | 'failed', answer: string): void {
    Object.assign(delivery, { state, answer })
    this.#options.outbox.record(this.#options.stored, this.#settings.id, delivery)
  }

  #isTooLate({ delivery, messages }: BoundDelivery): boolean {
    if (Date.now() - delivery.at_ms < this.#options.times.giveUpMs) return false
    const open = new Set(this.#options.open().map(({ id }) => id))
    return !messages.some(({ alert }) => open.has(alert.id))
  }

  #retryMs({ result, retryAfterMs = 0 }: Outcome, attempts: number): number {
    const { retry, rejection, maxRetryAfterMs } = this.#options.times
    const waitMs = result === 'rejected' ? backoffMs(this.#rejections - 1, rejection) : backoffMs(attempts - 1, retry)
    return Math.max(waitMs, Math.min(retryAfterMs, maxRetryAfterMs))
  }

  #setFailure(answer: string | null): void {
    if (answer === (this.#failure?.answer ?? null)) return
    const { since_ms = Date.now() } = this.#failure ?? {}
    this.#failure = answer === null ? null : { since_ms, answer }
    this.#options.onChange()
  }
}

const bySoonest = (alerts: readonly Alert[]) =>
  alerts.toSorted((a, b) => a.deadline_ms - b.deadline_ms) as [Alert, ...Alert[]]

interface BatchLimits {
  batchMs: number
  maxBatchMs: number
  max: number
  nowMs: number
  groupOf(alert: Alert): string
}

/**
 * The first message and those that can be sent with it: of the same event and group, and the first of their alert in
 * the queue. Each is within `batchMs` of the one before, or late: after an outage, receivers get few messages.
 */
export const nextBatch = (
  [first, ...others]: readonly Message[],
  { batchMs, maxBatchMs, max, nowMs, groupOf }: BatchLimits,
): Message[] => {
  if (!first) return []
  const batch = [first]
  const group = groupOf(first.alert)
  const seen = new Set([first.alert.id])
  const lateMs = nowMs - maxBatchMs
  let untilMs = first.at_ms + batchMs
  for (const message of others) {
    const { event, at_ms, alert } = message
    if (batch.length === max || at_ms > Math.max(lateMs, Math.min(untilMs, first.at_ms + maxBatchMs))) break
    if (seen.has(alert.id)) continue
    seen.add(alert.id)
    if (event !== first.event || groupOf(alert) !== group) continue
    batch.push(message)
    untilMs = at_ms + batchMs
  }
  return batch
}
