import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Alert, AlertEventName, Delivery, Receiver } from '#lib/protocol/alerts.ts'
import type { PushBinding } from '../../push/push-subscription.ts'
import type { ChannelFormat } from './receiver-fields.ts'

/** One event of an alert for one receiver. */
export interface Message {
  /** Assigned when it is stored. */
  number?: number
  receiver: string
  event: AlertEventName
  at_ms: number
  alert: Alert
}

/**
 * A receiver added on the page, or a browser that gets web push. `sealed` has its URL, its secret and the API key to
 * watch the account with.
 */
export interface StoredReceiver extends Pick<Receiver, 'id' | 'name' | 'host' | 'filter' | 'has_secret' | 'is_paused'> {
  format: ChannelFormat
  every_seconds?: number
  push?: PushBinding
  sealed: string
}

interface Storage {
  database: DatabaseSync
  prepare(sql: string): StatementSync
  /** Runs a write in a transaction, now or once the disk accepts it. Keeps the order of writes. */
  write(write: () => void): void
}

const keptMs = 7 * 24 * 3_600_000
export const shownDeliveries = 20
const pruneEvery = 100

export const outboxTables = `
  CREATE TABLE IF NOT EXISTS outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, receiver TEXT NOT NULL, delivery TEXT,
    message TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS outbox_by_receiver ON outbox (account, receiver, number);
  CREATE INDEX IF NOT EXISTS outbox_by_delivery ON outbox (delivery);
  CREATE TABLE IF NOT EXISTS deliveries (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, receiver TEXT NOT NULL, at_ms INTEGER NOT NULL,
    delivery TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS deliveries_by_time ON deliveries (account, receiver, at_ms);
  CREATE TABLE IF NOT EXISTS receivers (
    account TEXT NOT NULL, id TEXT NOT NULL, receiver TEXT NOT NULL, PRIMARY KEY (account, id));
`

/** Receivers of all accounts, their deliveries of the last week, and each message until it is delivered. */
export class Outbox {
  readonly #storage: Storage
  #ended = 0

  constructor(storage: Storage) {
    this.#storage = storage
    // Messages of receivers that are no longer configured.
    this.#run("DELETE FROM outbox WHERE message->>'at_ms' < ?", Date.now() - keptMs)
    this.#prune()
  }

  /** To be called within the write that stores the alert. */
  insert(account: string, messages: readonly Message[]): void {
    for (const message of messages) {
      const { number: _, ...stored } = message
      message.number = this.#run(
        'INSERT INTO outbox (account, receiver, message) VALUES (?, ?, ?)',
        account,
        message.receiver,
        JSON.stringify(stored),
      )
    }
  }

  /** Stores messages without an alert of their own. */
  add(account: string, messages: readonly Message[]): void {
    this.#storage.write(() => this.insert(account, messages))
  }

  /** Binds messages to a delivery, so that a restart sends them again under the same id. */
  bind(account: string, receiver: string, { ...delivery }: Delivery, messages: readonly Message[]): void {
    this.#storage.write(() => {
      this.#put(account, receiver, delivery)
      for (const { number = 0 } of messages)
        this.#run('UPDATE outbox SET delivery = ? WHERE number = ?', delivery.id, number)
    })
  }

  /** Stores the state of a delivery. Once it has ended, its messages are removed. */
  record(account: string, receiver: string, { ...delivery }: Delivery): void {
    this.#storage.write(() => {
      this.#put(account, receiver, delivery)
      if (delivery.state === 'waiting') return
      this.#run('DELETE FROM outbox WHERE delivery = ?', delivery.id)
      if (++this.#ended % pruneEvery === 0) this.#prune()
    })
  }

  /** Removes a delivery whose messages are to be sent in others. */
  release({ id }: Delivery): void {
    this.#storage.write(() => {
      this.#run('DELETE FROM deliveries WHERE id = ?', id)
      this.#run('UPDATE outbox SET delivery = NULL WHERE delivery = ?', id)
    })
  }

  countWaiting(): number {
    return Number(this.#storage.prepare('SELECT count(*) AS total FROM outbox').get()?.total)
  }

  /** Undelivered messages, oldest first. At most one delivery binds some of them. */
  waiting(
    account: string,
    receiver: string,
  ): { messages: Message[]; bound?: { delivery: Delivery; messages: Message[] } } {
    const rows = this.#storage
      .prepare('SELECT number, message, delivery FROM outbox WHERE account = ? AND receiver = ? ORDER BY number')
      .all(account, receiver)
      .map(({ number, message, delivery }) => ({
        message: { ...JSON.parse(String(message)), number: Number(number) } as Message,
        delivery,
      }))
    const messages = rows.map(({ message }) => message)
    const id = rows.find(({ delivery }) => delivery !== null)?.delivery
    if (!id) return { messages }
    const { delivery } = this.#storage.prepare('SELECT delivery FROM deliveries WHERE id = ?').get(id) ?? {}
    const bound = rows.filter((row) => row.delivery === id).map(({ message }) => message)
    return { messages, bound: { delivery: JSON.parse(String(delivery)), messages: bound } }
  }

  /** The latest, newest first. */
  deliveries(account: string, receiver: string): Delivery[] {
    return this.#storage
      .prepare('SELECT delivery FROM deliveries WHERE account = ? AND receiver = ? ORDER BY at_ms DESC LIMIT ?')
      .all(account, receiver, shownDeliveries)
      .map(({ delivery }) => JSON.parse(String(delivery)))
  }

  /** Deliveries by receiver that were accepted and given up from `fromMs` until before `toMs`. */
  deliveryCounts(account: string, fromMs: number, toMs: number): Map<string, { delivered: number; failed: number }> {
    const rows = this.#storage
      .prepare(
        `SELECT receiver, count(*) FILTER (WHERE delivery->>'state' = 'delivered') AS delivered,
           count(*) FILTER (WHERE delivery->>'state' = 'failed') AS failed
         FROM deliveries WHERE account = ? AND at_ms >= ? AND at_ms < ? GROUP BY receiver`,
      )
      .all(account, fromMs, toMs)
    return new Map(
      rows.map(({ receiver, delivered, failed }) => [
        String(receiver),
        { delivered: Number(delivered), failed: Number(failed) },
      ]),
    )
  }

  receivers(): { account: string; receiver: StoredReceiver }[] {
    return this.#storage
      .prepare('SELECT account, receiver FROM receivers ORDER BY rowid')
      .all()
      .map(({ account, receiver }) => ({ account: String(account), receiver: JSON.parse(String(receiver)) }))
  }

  /** Throws if the disk doesn't accept it. */
  putReceiver(account: string, receiver: StoredReceiver): void {
    this.#run(
      'INSERT INTO receivers VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET receiver = excluded.receiver',
      account,
      receiver.id,
      JSON.stringify(receiver),
    )
  }

  deleteReceiver(account: string, id: string): void {
    this.#storage.write(() => {
      this.#run('DELETE FROM receivers WHERE account = ? AND id = ?', account, id)
      for (const table of ['outbox', 'deliveries'])
        this.#run(`DELETE FROM ${table} WHERE account = ? AND receiver = ?`, account, id)
    })
  }

  #put(account: string, receiver: string, delivery: Delivery): void {
    this.#run(
      'INSERT OR REPLACE INTO deliveries VALUES (?, ?, ?, ?, ?)',
      delivery.id,
      account,
      receiver,
      delivery.at_ms,
      JSON.stringify(delivery),
    )
  }

  #prune(): void {
    this.#run(
      `DELETE FROM deliveries WHERE at_ms < ?
         AND id NOT IN (SELECT delivery FROM outbox WHERE delivery IS NOT NULL)`,
      Date.now() - keptMs,
    )
  }

  /** Returns the number of the inserted row, if any. */
  #run(sql: string, ...values: (string | number)[]): number {
    return Number(this.#storage.prepare(sql).run(...values).lastInsertRowid)
  }
}
