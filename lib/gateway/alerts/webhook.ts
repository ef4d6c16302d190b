import { createHmac, randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import {
  type Alert,
  type AlertEventName,
  alertsText,
  type LinkedAlert,
  type Receiver,
  type WebhookDelivery,
  type WebhookFailure,
} from '#lib/protocol/alerts.ts'

export interface WebhookConfig {
  url: string
  /** Signing secret; messages are unsigned without it. */
  secret: string | undefined
}

const webhookTimes = {
  firstMs: 1_000,
  maxMs: 60_000,
  timeoutMs: 10_000,
}

/** About five minutes; later, most evictions have happened. */
const maxAttempts = 8
const maxDeliveries = 50
/** Alerts raised within this time share a message: chats limit message rates. */
const batchMs = 1_000
/** About 250 KB of JSON. */
const maxPerMessage = 500

/** An alert with the number of its latest update. */
interface Update extends LinkedAlert {
  number: number
}

// Sends an account's alerts to one URL. `devdeck-signature: t=<ms>,v1=<hex>` is the HMAC-SHA256 of `<ms>.<body>`.
// Failed messages are retried with the same `devdeck-delivery` id, without alerts that have newer updates.
export class Webhook {
  readonly #config: WebhookConfig
  readonly #account: { id: string; name: string }
  readonly #now: () => number
  readonly #closing = new AbortController()
  readonly #pending = new Map<AlertEventName, Map<string, Update>>()
  /** Latest update number of each undelivered alert. */
  readonly #latest = new Map<string, number>()
  #updates = 0
  readonly deliveries: WebhookDelivery[] = []
  failure: WebhookFailure | null = null
  onChange: () => void = () => undefined

  /** `now` is in service time, like the alerts. */
  constructor(config: WebhookConfig, account: { id: string; name: string }, now: () => number) {
    this.#config = config
    this.#account = account
    this.#now = now
  }

  /** Host only, because the path may contain a secret. */
  get host(): string {
    return new URL(this.#config.url).host
  }

  receiver(): Receiver {
    const { failure } = this
    return {
      id: 'environment',
      name: 'Webhook',
      format: 'json',
      host: this.host,
      source: 'environment',
      filter: { kinds: null, min_severity: 'info', metadata: {} },
      has_secret: this.#config.secret !== undefined,
      is_paused: false,
      failure: failure && { since_ms: failure.since_ms, answer: failure.answer },
      waiting: this.#latest.size,
      next_try_ms: null,
      deliveries: this.deliveries.slice(0, 20).map(({ delivered, ...delivery }) => ({
        ...delivery,
        state: delivered === null ? 'waiting' : delivered ? 'delivered' : 'failed',
        text: '',
      })),
    }
  }

  /** Queues an alert; alerts with the same event are sent together. */
  send(event: AlertEventName, alert: Alert, url: string): void {
    const update = { alert, url, number: ++this.#updates }
    this.#latest.set(alert.id, update.number)
    const pending = this.#pending.get(event)
    if (pending) return void pending.set(alert.id, update)
    const batch = new Map([[alert.id, update]])
    this.#pending.set(event, batch)
    setTimeout(() => {
      this.#pending.delete(event)
      const updates = [...batch.values()].sort((a, b) => a.alert.deadline_ms - b.alert.deadline_ms)
      void this.#deliverAll(event, updates)
    }, batchMs).unref()
  }

  /** One message per event loop turn, since each may take 250 KB. */
  async #deliverAll(event: AlertEventName, updates: Update[]): Promise<void> {
    for (; updates.length > 0; await turn()) void this.#deliver(event, updates.splice(0, maxPerMessage))
  }

  /** Resolves when delivered or given up; never rejects. */
  async #deliver(event: AlertEventName, updates: readonly Update[]): Promise<void> {
    const delivery: WebhookDelivery = {
      id: randomUUID(),
      event,
      n_alerts: updates.length,
      at_ms: Date.now(),
      attempts: 0,
      delivered: null,
      answer: 'in progress',
    }
    this.deliveries.unshift(delivery)
    this.deliveries.length = Math.min(this.deliveries.length, maxDeliveries)
    const { signal } = this.#closing
    const isLatest = ({ alert, number }: Update) => this.#latest.get(alert.id) === number
    let current = updates
    while (!signal.aborted && current.length > 0) {
      delivery.attempts += 1
      const { isDelivered, isFinal, answer } = await this.#post(this.#body(delivery, current), delivery)
      delivery.answer = answer
      if (isDelivered) this.#setFailure(null)
      // A single failed attempt does not count as a failure.
      else if (isFinal || delivery.attempts > 1) this.#setFailure(answer)
      if (isDelivered || isFinal || delivery.attempts >= maxAttempts) {
        delivery.delivered = isDelivered
        for (const update of current) if (isLatest(update)) this.#latest.delete(update.alert.id)
        return
      }
      await pause(backoffMs(delivery.attempts - 1, webhookTimes), signal)
      current = current.filter(isLatest)
    }
    delivery.delivered = false
    delivery.answer = current.length > 0 ? 'stopped with the console' : 'superseded by a later update'
  }

  #setFailure(answer: string | null): void {
    if (answer === (this.failure?.answer ?? null)) return
    const { since_ms = this.#now() } = this.failure ?? {}
    this.failure = answer === null ? null : { host: this.host, since_ms, answer }
    this.onChange()
  }

  /** `alert` has the earliest deadline; chats such as Slack display `text`. */
  #body({ event, at_ms }: WebhookDelivery, updates: readonly Update[]): string {
    const alerts = updates.map(({ alert }) => alert)
    const [alert] = alerts
    return JSON.stringify({ event, alert, alerts, text: alertsText(updates), account: this.#account, sent_ms: at_ms })
  }

  close(): void {
    this.#closing.abort()
  }

  async #post(body: string, { id, event }: WebhookDelivery) {
    const { secret, url } = this.#config
    try {
      const { status } = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'devdeck-alerts',
          'devdeck-event': event,
          'devdeck-delivery': id,
          ...(secret === undefined ? {} : { 'devdeck-signature': signatureOf(body, secret, Date.now()) }),
        },
        body,
        // A redirect could leak the message to another host.
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(webhookTimes.timeoutMs), this.#closing.signal]),
      })
      const isDelivered = status >= 200 && status < 300
      // These statuses will not change on retry.
      const isFinal = status >= 300 && status < 500 && status !== 408 && status !== 429
      return { isDelivered, isFinal, answer: `HTTP ${status}` }
    } catch (error) {
      const { name, cause } = error as Error & { cause?: { code?: string } }
      const answer = name === 'TimeoutError' ? 'timed out' : `unreachable${cause?.code ? ` (${cause.code})` : ''}`
      return { isDelivered: false, isFinal: false, answer }
    }
  }
}

export const signatureOf = (body: string, secret: string, nowMs: number): string =>
  `t=${nowMs},v1=${createHmac('sha256', secret).update(`${nowMs}.${body}`).digest('hex')}`
