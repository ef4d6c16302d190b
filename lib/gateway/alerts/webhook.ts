import { createHmac, randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import {
  type Alert,
  type AlertEventName,
  alertsText,
  type LinkedAlert,
  type WebhookDelivery,
  type WebhookFailure,
} from '#lib/protocol/alerts.ts'

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
/** What is told within this time of the first goes in one message: chats refuse many at once, and people read none. */
const gatheringMs = 1_000
/** A message with as many alerts has about a quarter of a megabyte. */
const maxTogether = 500

/** What a receiver gets, as JSON. `text` is what Slack and its likes show of a message. */
interface Message {
  event: AlertEventName
  /** The one with the soonest deadline. */
  alert: Alert
  /** All it tells of, the soonest first. */
  alerts: Alert[]
  text: string
  account: { id: string; name: string }
  sent_ms: number
}

/** What there is to tell of an alert, and which word about it that is. */
interface Word extends LinkedAlert {
  number: number
}

/**
 * Tells one address outside of the alerts of an account. Each message is signed: `devdeck-signature: t=<ms>,v1=<hex>`
 * is the HMAC-SHA256, under the secret, of `<ms>.<body>`. What is not answered with 2xx is sent again, with the same
 * `devdeck-delivery`, so that a receiver can tell a repetition; an alert of which there is later news is left out then,
 * or a receiver that was away would hear last what was true first.
 */
export class Webhook {
  readonly #config: WebhookConfig
  readonly #account: { id: string; name: string }
  readonly #now: () => number
  readonly #closing = new AbortController()
  /** By event and the id of the alert. */
  readonly #gathered = new Map<AlertEventName, Map<string, Word>>()
  /** The number of the last word about each alert that is not delivered, and of the last one of all. */
  readonly #lastWords = new Map<string, number>()
  #words = 0
  /** Newest first. */
  readonly deliveries: WebhookDelivery[] = []
  failure: WebhookFailure | null = null
  /** Called when `failure` has changed. */
  onChange: () => void = () => undefined

  /** `now` is by the clock of the service, as the times of alerts are. */
  constructor(config: WebhookConfig, account: { id: string; name: string }, now: () => number) {
    this.#config = config
    this.#account = account
    this.#now = now
  }

  /** The host alone: an address may hold a secret in its path. */
  get host(): string {
    return new URL(this.#config.url).host
  }

  /** Tells of an alert, with others of which the same is told at about the same time. `url` leads people to it. */
  send(event: AlertEventName, alert: Alert, url: string): void {
    const word = { alert, url, number: ++this.#words }
    this.#lastWords.set(alert.id, word.number)
    const gathered = this.#gathered.get(event)
    if (gathered) return void gathered.set(alert.id, word)
    const together = new Map([[alert.id, word]])
    this.#gathered.set(event, together)
    setTimeout(() => {
      this.#gathered.delete(event)
      const told = [...together.values()].sort((a, b) => a.alert.deadline_ms - b.alert.deadline_ms)
      void this.#deliverAll(event, told)
    }, gatheringMs).unref()
  }

  /** Writes one message in each turn of the event loop: each may have a quarter of a megabyte. */
  async #deliverAll(event: AlertEventName, told: Word[]): Promise<void> {
    for (; told.length > 0; await turn()) void this.#deliver(event, told.splice(0, maxTogether))
  }

  /** Resolves once it was delivered or given up; never rejects. */
  async #deliver(event: AlertEventName, told: readonly Word[]): Promise<void> {
    const delivery: WebhookDelivery = {
      id: randomUUID(),
      event,
      n_alerts: told.length,
      at_ms: Date.now(),
      attempts: 0,
      delivered: null,
      answer: 'on its way',
    }
    this.deliveries.unshift(delivery)
    this.deliveries.length = Math.min(this.deliveries.length, maxKept)
    const { signal } = this.#closing
    const isNews = ({ alert, number }: Word) => this.#lastWords.get(alert.id) === number
    let current = told
    while (!signal.aborted && current.length > 0) {
      delivery.attempts += 1
      const { isDelivered, isFinal, answer } = await this.#post(this.#body(delivery, current), delivery)
      delivery.answer = answer
      if (isDelivered) this.#setFailure(null)
      // One attempt that fails is made good by the next.
      else if (isFinal || delivery.attempts > 1) this.#setFailure(answer)
      if (isDelivered || isFinal || delivery.attempts >= maxAttempts) {
        delivery.delivered = isDelivered
        for (const word of current) if (isNews(word)) this.#lastWords.delete(word.alert.id)
        return
      }
      await pause(backoffMs(delivery.attempts - 1, webhookTimes), signal)
      current = current.filter(isNews)
    }
    delivery.delivered = false
    delivery.answer = current.length > 0 ? 'given up, as the console stopped' : 'given up, as there is later news'
  }

  #setFailure(answer: string | null): void {
    if (answer === (this.failure?.answer ?? null)) return
    const { since_ms = this.#now() } = this.failure ?? {}
    this.failure = answer === null ? null : { host: this.host, since_ms, answer }
    this.onChange()
  }

  #body({ event, at_ms }: WebhookDelivery, told: readonly Word[]): string {
    const alerts = told.map(({ alert }) => alert)
    const message: Message = {
      event,
      alert: alerts[0] as Alert,
      alerts,
      text: alertsText(told),
      account: this.#account,
      sent_ms: at_ms,
    }
    return JSON.stringify(message)
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
