import { createHmac, randomUUID } from 'node:crypto'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import { type Alert, type AlertEventName, alertText, type WebhookDelivery } from '#lib/wire/alerts.ts'

export interface WebhookConfig {
  url: string
  /** Signs what is sent; undefined sends it unsigned. */
  secret: string | undefined
}

const webhookTimes = {
  firstMs: 1_000,
  maxMs: 60_000,
  answerMs: 10_000,
}

/** About five minutes: after that the eviction it is about has mostly happened. */
const maxAttempts = 8
/** Of one account, shown on the page. */
const maxKept = 50

/** What a receiver gets, as JSON. `text` is what Slack and its likes show of a message. */
interface Message {
  event: AlertEventName
  alert: Alert
  text: string
  account: { id: string; name: string }
  sent_ms: number
}

/**
 * Tells one address outside of the alerts of an account. Each message is signed: `devdeck-signature: t=<ms>,v1=<hex>`
 * is the HMAC-SHA256, under the secret, of `<ms>.<body>`. What is not answered with 2xx is sent again, with the same
 * `devdeck-delivery`, so that a receiver can tell a repetition.
 */
export class Webhook {
  readonly #config: WebhookConfig
  readonly #account: { id: string; name: string }
  readonly #closing = new AbortController()
  /** Newest first. */
  readonly deliveries: WebhookDelivery[] = []

  constructor(config: WebhookConfig, account: { id: string; name: string }) {
    this.#config = config
    this.#account = account
  }

  /** The host alone: an address may hold a secret in its path. */
  get host(): string {
    return new URL(this.#config.url).host
  }

  /** Resolves once it was delivered or given up; never rejects. `url` leads people to the alert. */
  async send(event: AlertEventName, alert: Alert, url: string): Promise<WebhookDelivery> {
    const delivery: WebhookDelivery = {
      id: randomUUID(),
      event,
      alert_id: alert.id,
      at_ms: Date.now(),
      attempts: 0,
      delivered: null,
      answer: 'on its way',
    }
    this.deliveries.unshift(delivery)
    this.deliveries.length = Math.min(this.deliveries.length, maxKept)
    const message: Message = {
      event,
      alert,
      text: alertText(alert, url),
      account: this.#account,
      sent_ms: delivery.at_ms,
    }
    const body = JSON.stringify(message)
    const { signal } = this.#closing
    while (!signal.aborted) {
      delivery.attempts += 1
      const { isDelivered, isFinal, answer } = await this.#post(body, delivery)
      delivery.answer = answer
      if (isDelivered || isFinal || delivery.attempts >= maxAttempts) {
        delivery.delivered = isDelivered
        return delivery
      }
      await pause(backoffMs(delivery.attempts - 1, webhookTimes), signal)
    }
    delivery.delivered = false
    delivery.answer = 'given up, as the console stopped'
    return delivery
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
        // A redirect would take the message to an address that nobody configured.
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(webhookTimes.answerMs), this.#closing.signal]),
      })
      const isDelivered = status >= 200 && status < 300
      // A receiver that refuses this message refuses it every time.
      const isFinal = status >= 300 && status < 500 && status !== 408 && status !== 429
      return { isDelivered, isFinal, answer: `HTTP ${status}` }
    } catch (error) {
      const { name, cause } = error as Error & { cause?: { code?: string } }
      const answer =
        name === 'TimeoutError' ? 'no answer in time' : `not reached${cause?.code ? ` (${cause.code})` : ''}`
      return { isDelivered: false, isFinal: false, answer }
    }
  }
}

export const signatureOf = (body: string, secret: string, nowMs: number): string =>
  `t=${nowMs},v1=${createHmac('sha256', secret).update(`${nowMs}.${body}`).digest('hex')}`
