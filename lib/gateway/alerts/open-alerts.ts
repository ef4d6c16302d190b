import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Alert, isOpen } from '#lib/protocol/alerts.ts'
import type { AlertStore } from './alert-store.ts'

/** Alerts written per event loop turn, about 10 ms. */
const batchSize = 100

/** An account's open alerts, in memory and indexed by devbox. Changes are stored in batches. */
export class OpenAlerts {
  readonly #store: AlertStore
  readonly #account: string
  readonly #onSaved: (alert: Alert) => void
  readonly #open = new Map<string, Alert>()
  /** Ids by kind and devbox. */
  readonly #ids = new Map<string, string>()
  /** Ids of alerts to announce once their silence ends. */
  readonly #withheld = new Set<string>()
  /** Changed alerts that are not stored yet, by id. */
  readonly #unsaved = new Map<string, Alert>()
  #saving: Promise<void> | undefined

  constructor(store: AlertStore, account: string, onSaved: (alert: Alert) => void) {
    this.#store = store
    this.#account = account
    this.#onSaved = onSaved
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
    return [...this.#withheld].map((id) => this.#open.get(id)).filter((alert) => alert !== undefined)
  }

  isWithheld(id: string): boolean {
    return this.#withheld.has(id)
  }

  get(id: string): Alert | undefined {
    return this.#open.get(id)
  }

  /** Includes closed alerts. */
  find(id: string): Alert | undefined {
    return this.#open.get(id) ?? this.#unsaved.get(id) ?? this.#store.get(this.#account, id)
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

  put(alert: Alert): void {
    this.hold(alert)
    this.#unsaved.set(alert.id, alert)
    this.#saving ??= this.#saveInBatches()
  }

  async saved(): Promise<void> {
    await this.#saving
  }

  flush(limit = this.#unsaved.size): void {
    const alerts = [...this.#unsaved.values().take(limit)]
    for (const { id } of alerts) this.#unsaved.delete(id)
    this.#store.put(this.#account, alerts)
    for (const alert of alerts) this.#onSaved(alert)
  }

  /** Stores what is pending. Calls still in progress then find no alert to change. */
  close(): void {
    this.flush()
    this.#open.clear()
  }

  async #saveInBatches(): Promise<void> {
    for (await nextTurn(); this.#unsaved.size > 0; await nextTurn()) this.flush(batchSize)
    this.#saving = undefined
  }
}
