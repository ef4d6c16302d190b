import { type Alert, type AlertEventName, isSilenced, type Silence } from '#lib/wire/alerts.ts'
import type { Webhook } from './webhook.ts'

interface Options {
  webhook: Webhook | undefined
  /** The page of an alert. */
  urlOf(alertId: string): string
  silences(): Silence[]
  /** By the clock that silences end by. */
  now(): number
}

/** Tells the webhook of an account's alerts. One that is silenced as it is raised is told once its silence is over. */
export class WebhookAlerts {
  readonly #options: Options
  /** The ids of alerts that were silenced as they were raised. */
  readonly #withheld = new Set<string>()

  /** `open`: alerts that were raised before, by this console or by one that ran before it, and the silences it knew last. */
  constructor(options: Options, open: Iterable<Alert>, silences: readonly Silence[]) {
    this.#options = options
    for (const alert of open) {
      const before = silences.filter(({ created_ms }) => created_ms <= alert.raised_ms)
      if (isSilenced(alert, before, alert.raised_ms)) this.#withheld.add(alert.id)
    }
  }

  /** When a silence that withholds an alert may be over. */
  get silencesEndMs(): number[] {
    return this.#withheld.size > 0 ? this.#options.silences().map(({ until_ms }) => until_ms) : []
  }

  /** False when the alert is silenced. */
  send(event: AlertEventName, alert: Alert): boolean {
    const { webhook, urlOf, silences, now } = this.#options
    const isQuiet = isSilenced(alert, silences(), now())
    if (isQuiet && event === 'alert.raised') this.#withheld.add(alert.id)
    else this.#withheld.delete(alert.id)
    if (!isQuiet) webhook?.send(event, alert, urlOf(alert.id))
    return !isQuiet
  }

  /** Tells of those whose silence is over and that still wait for somebody. */
  sendWithheld(open: ReadonlyMap<string, Alert>): void {
    const silences = this.#options.silences()
    for (const id of this.#withheld) {
      const alert = open.get(id)
      if (alert && isSilenced(alert, silences, this.#options.now())) continue
      this.#withheld.delete(id)
      if (alert?.state === 'new') this.send('alert.raised', alert)
    }
  }
}
