import { type Alert, isOpen } from '#lib/protocol/alerts.ts'
import type { AlertStore } from './alert-store.ts'
import type { Message } from './delivery/outbox.ts'

/** An account's open alerts, in memory and indexed by devbox. */
export class OpenAlerts {
  readonly #store: AlertStore
  readonly #account: string
  readonly #open = new Map<string, Alert>()
  readonly #ids = new Map<string, string>()
  /** Ids of alerts to announce once their silence ends. */
  readonly #withheld = new Set<string>()

  constructor(store: AlertStore, account: string) {
    this.#store = store
    this.#account = account
    for (const alert of store.open(account)) this.hold(alert)
  }

  all(): Alert[] {
    return [...this.#open.values()]
  }

  ofKind(wanted: Alert['kind']): Alert[] {
    return this.all().filter(({ kind }) => kind === wanted)
  }

  ofDevbox(kind: Alert['kind'], devboxId: string): Alert | undefined {
    return this.#open.get(this.#ids.get(`${kind} ${devboxId}`) ?? '')
  }

  withheld(): Alert[] {
    return [...this.#withheld].flatMap((id) => this.#open.get(id) ?? [])
  }

  isWithheld(id: string): boolean {
    return this.#withheld.has(id)
  }

  get(id: string): Alert | undefined {
    return this.#open.get(id)
  }

  /** Includes closed alerts. */
  find(id: string): Alert | undefined {
    return this.#open.get(id) ?? this.#store.get(this.#account, id)
  }

  /** Holds the alert in memory only. */
  hold(alert: Alert): void {
    const key = `${alert.kind} ${alert.devbox_id}`
    this.#withheld.delete(alert.id)
    if (isOpen(alert)) {
      this.#open.set(alert.id, alert)
      this.#ids.set(key, alert.id)
      if (alert.state === 'new' && alert.withheld) this.#withheld.add(alert.id)
    } else {
      this.#open.delete(alert.id)
      if (this.#ids.get(key) === alert.id) this.#ids.delete(key)
    }
  }

  put(alert: Alert, messages: readonly Message[]): void {
    this.hold(alert)
    this.#store.put(this.#account, alert, messages)
  }

  /** Calls still in progress then find no alert to change. */
  close(): void {
    this.#open.clear()
  }
}
