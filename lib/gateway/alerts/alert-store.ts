import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AlertOutcome } from '#lib/protocol/alert-outcomes.ts'
import { type Alert, isOpen, maxStoredAlerts, type Silence } from '#lib/protocol/alerts.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { openConsoleDatabase } from '../data-folder.ts'
import { logError } from '../observability/log.ts'
import { type Message, Outbox, outboxTables } from './delivery/outbox.ts'

export interface AlertFilter {
  state?: string | undefined
  kind?: string | undefined
  outcome?: AlertOutcome | undefined
  /** See `occurredMs`. */
  from_ms?: number | undefined
  to_ms?: number | undefined
  devbox_id?: string | undefined
  search?: string | undefined
}

export interface HistoryQuery extends AlertFilter {
  limit: number
  starting_after?: string | undefined
}

/** `occurredMs` in SQL. */
const occurredSql = "min(alert->>'deadline_ms', coalesce(alert->>'closed_ms', alert->>'deadline_ms'))"
const closedSql = "alert->>'closed_ms'"
/** `isInterrupted` and `isUnattended` of alerts that aren't practice, in SQL. */
const isReal = "alert->>'kind' <> 'test' AND alert->>'is_drill' IS NULL"
const outcomesSql: Record<AlertOutcome, string> = {
  interrupted: `${isReal} AND state = 'ended' AND alert->>'kind' = 'eviction' AND alert->>'$.work.commands' > 0`,
  unattended: `${isReal} AND alert->>'acknowledged_ms' IS NULL
    AND (state IN ('ended', 'resolved') OR state = 'passed' AND alert->>'kind' = 'failure')`,
}

/** Alerts read per event loop turn. */
const pageSize = 500

/** Pruning reads the whole history, so it runs once per this many closed alerts. */
const pruneEvery = 100

/** Stores alerts and silences per account in the console's data folder. The console is the only writer. */
export class AlertStore {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  /** Alerts that could not be written, by account and id. */
  readonly #unwritten = new Map<string, { account: string; alert: Alert }>()
  /** Other writes, in order. */
  #writes: (() => void)[] = []
  #isBatching = false
  #closed = 0
  readonly #toPrune = new Set<string>()
  readonly outbox: Outbox
  problem: string | null = null

  constructor(dataDir: string) {
    // A power cut may lose an acknowledgment; the alert then alarms again.
    this.#database = openConsoleDatabase(
      dataDir,
      'alerts',
      `
      CREATE TABLE IF NOT EXISTS alerts (
        account TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, first_heard_ms INTEGER NOT NULL,
        words TEXT NOT NULL, alert TEXT NOT NULL, PRIMARY KEY (account, id)) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS alerts_by_time ON alerts (account, first_heard_ms, id);
      CREATE INDEX IF NOT EXISTS alerts_by_occurrence ON alerts (account, ${occurredSql});
      CREATE INDEX IF NOT EXISTS alerts_by_closing ON alerts (account, ${closedSql});
      CREATE TABLE IF NOT EXISTS silences (
        account TEXT NOT NULL, id TEXT NOT NULL, until_ms INTEGER NOT NULL, silence TEXT NOT NULL,
        PRIMARY KEY (account, id)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS followed_jobs (
        account TEXT NOT NULL, job_id TEXT NOT NULL, PRIMARY KEY (account, job_id)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS watched_accounts (key_digest TEXT PRIMARY KEY, account TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS looks (account TEXT PRIMARY KEY, looked_ms INTEGER NOT NULL) WITHOUT ROWID;
      ${outboxTables}`,
    )
    this.outbox = new Outbox({
      database: this.#database,
      prepare: (sql) => this.#prepare(sql),
      write: (write) => this.#write(write),
    })
  }

  close(): void {
    this.#database.close()
  }

  /** Stores an alert with the messages about it, in one transaction. */
  put(account: string, alert: Alert, messages: readonly Message[] = []): void {
    this.#unwritten.set(`${account} ${alert.id}`, { account, alert })
    if (!isOpen(alert) && this.#closed++ % pruneEvery === 0) this.#toPrune.add(account)
    this.#write(() => this.outbox.insert(account, messages))
  }

  /** Writes what `change` puts in one transaction. */
  batch(change: () => void): void {
    this.#isBatching = true
    try {
      change()
    } finally {
      this.#isBatching = false
      if (this.#writes.length > 0) this.#flush()
    }
  }

  #write(write: () => void): void {
    this.#writes.push(write)
    if (!this.#isBatching) this.#flush()
  }

  /** Never throws: alerts must work even with a full disk. Failed writes are retried with the next one. */
  #flush(): void {
    try {
      this.#database.exec('BEGIN')
      for (const { account, alert } of this.#unwritten.values()) this.#put(account, alert)
      for (const write of this.#writes) write()
      for (const account of this.#toPrune) this.#prune(account)
      this.#database.exec('COMMIT')
      this.#unwritten.clear()
      this.#writes = []
      this.#toPrune.clear()
      this.problem = null
    } catch (error) {
      if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK')
      if (this.problem === null) logError('Could not store alerts', error)
      this.problem = (error as Error).message
    }
  }

  #put(account: string, alert: Alert): void {
    const { devbox_id, devbox_name, metadata, node, job, watch, acknowledged_by } = alert
    const named = [devbox_id, devbox_name, node, job?.id, job?.name, watch?.detail, acknowledged_by].map(
      (word) => word ?? '',
    )
    const words = [...named, ...Object.entries(metadata).flat()]
    this.#run(
      'INSERT OR REPLACE INTO alerts VALUES (?, ?, ?, ?, ?, ?)',
      account,
      alert.id,
      alert.state,
      alert.first_heard_ms,
      words.join('\n').toLowerCase(),
      JSON.stringify(alert),
    )
  }

  #prune(account: string): void {
    this.#run(
      `DELETE FROM alerts WHERE account = ? AND state NOT IN ('new', 'acknowledged') AND first_heard_ms <= (
         SELECT first_heard_ms FROM alerts WHERE account = ? ORDER BY first_heard_ms DESC LIMIT 1 OFFSET ?)`,
      account,
      account,
      maxStoredAlerts,
    )
  }

  get(account: string, id: string): Alert | undefined {
    const unwritten = this.#unwritten.get(`${account} ${id}`)
    if (unwritten) return unwritten.alert
    return this.#rows('SELECT alert AS json FROM alerts WHERE account = ? AND id = ?', account, id)[0] as
      | Alert
      | undefined
  }

  /** Open alerts of all accounts by kind. */
  countOpen(): { kind: string; total: number }[] {
    const sql = `SELECT alert ->> '$.kind' AS kind, count(*) AS total FROM alerts
      WHERE state IN ('new', 'acknowledged') GROUP BY 1`
    return this.#prepare(sql).all() as { kind: string; total: number }[]
  }

  open(account: string): Alert[] {
    return this.#rows(
      "SELECT alert AS json FROM alerts WHERE account = ? AND state IN ('new', 'acknowledged')",
      account,
    ) as Alert[]
  }

  history(account: string, { limit, starting_after, ...filter }: HistoryQuery) {
    const { where, values } = whereOf(account, filter)
    const { n } = this.#prepare(`SELECT count(*) AS n FROM alerts WHERE ${where}`).get(...values) as { n: number }
    const after = '(first_heard_ms, id) < (SELECT first_heard_ms, id FROM alerts WHERE account = ? AND id = ?)'
    const alerts = this.#rows(
      `SELECT alert AS json FROM alerts WHERE ${where} ${starting_after === undefined ? '' : `AND ${after}`}
       ORDER BY first_heard_ms DESC, id DESC LIMIT ?`,
      ...values,
      ...(starting_after === undefined ? [] : [account, starting_after]),
      limit + 1,
    ) as Alert[]
    return { alerts: alerts.slice(0, limit), has_more: alerts.length > limit, total_count: n }
  }

  /** All matching alerts in the order in which they happened, without blocking the event loop for long. */
  async all(account: string, filter: AlertFilter & { closed_since_ms?: number | undefined }): Promise<Alert[]> {
    const { from_ms = 0, closed_since_ms, ...rest } = filter
    const { where, values } = whereOf(account, rest)
    // Both expressions are indexed.
    const time = closed_since_ms === undefined ? occurredSql : closedSql
    const read = this.#prepare(
      `SELECT id, ${time} AS at_ms, alert FROM alerts
       WHERE ${where} AND ${time} >= ? AND NOT (${time} = ? AND id <= ?) ORDER BY at_ms, id LIMIT ${pageSize}`,
    )
    const alerts: Alert[] = []
    for (let at: readonly [number, string] = [closed_since_ms ?? from_ms, '']; ; await nextTurn()) {
      const rows = read.all(...values, at[0], ...at) as { id: string; at_ms: number; alert: string }[]
      for (const { alert } of rows) alerts.push(JSON.parse(alert))
      const last = rows.at(-1)
      if (rows.length < pageSize || !last) return alerts
      at = [last.at_ms, last.id]
    }
  }

  /** When the oldest closed alert was received, if older ones may have been pruned. */
  prunedBeforeMs(account: string): number | null {
    const { n, oldest } = this.#prepare(
      `SELECT count(*) AS n, min(first_heard_ms) FILTER (WHERE state NOT IN ('new', 'acknowledged')) AS oldest
       FROM alerts WHERE account = ?`,
    ).get(account) as { n: number; oldest: number | null }
    return n >= maxStoredAlerts ? oldest : null
  }

  /** People in the logs of the latest alerts. */
  people(account: string): string[] {
    const rows = this.#prepare(
      `SELECT DISTINCT json_extract(value, '$.by') AS by, json_extract(value, '$.to') AS recipient
       FROM (SELECT alert FROM alerts WHERE account = ? ORDER BY first_heard_ms DESC LIMIT 1000) AS recent,
         json_each(recent.alert, '$.log')`,
    ).all(account)
    return rows.flatMap(({ by, recipient }) => [by, recipient]).filter((name) => typeof name === 'string')
  }

  /** Includes expired ones until they are deleted. */
  silences(account: string): Silence[] {
    return this.#rows(
      'SELECT silence AS json FROM silences WHERE account = ? ORDER BY until_ms, id',
      account,
    ) as Silence[]
  }

  putSilence(account: string, silence: Silence): void {
    const { id, until_ms } = silence
    const json = JSON.stringify(silence)
    this.#write(() => this.#run('INSERT OR REPLACE INTO silences VALUES (?, ?, ?, ?)', account, id, until_ms, json))
  }

  deleteSilence(account: string, id: string): void {
    this.#write(() => this.#run('DELETE FROM silences WHERE account = ? AND id = ?', account, id))
  }

  followedJobs(account: string): string[] {
    return this.#database
      .prepare('SELECT job_id FROM followed_jobs WHERE account = ?')
      .all(account)
      .map(({ job_id }) => String(job_id))
  }

  followJob(account: string, jobId: string): void {
    this.#write(() => this.#run('INSERT OR IGNORE INTO followed_jobs VALUES (?, ?)', account, jobId))
  }

  unfollowJob(account: string, jobId: string): void {
    this.#write(() => this.#run('DELETE FROM followed_jobs WHERE account = ? AND job_id = ?', account, jobId))
  }

  /** The account that an API key last belonged to. */
  watchedAccount(keyDigest: string): KeyHolder['account'] | undefined {
    return this.#rows('SELECT account AS json FROM watched_accounts WHERE key_digest = ?', keyDigest)[0] as
      | KeyHolder['account']
      | undefined
  }

  setWatchedAccount(keyDigest: string, account: KeyHolder['account']): void {
    this.#write(() =>
      this.#run('INSERT OR REPLACE INTO watched_accounts VALUES (?, ?)', keyDigest, JSON.stringify(account)),
    )
  }

  polledMs(account: string): number | null {
    const row = this.#database.prepare('SELECT looked_ms FROM looks WHERE account = ?').get(account)
    return row ? Number(row.looked_ms) : null
  }

  /** Every poll ends with this, which retries failed writes. */
  setPolledMs(account: string, ms: number): void {
    this.#write(() => this.#run('INSERT OR REPLACE INTO looks VALUES (?, ?)', account, ms))
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  #run(sql: string, ...values: (string | number)[]): void {
    this.#prepare(sql).run(...values)
  }

  #rows(sql: string, ...values: (string | number)[]): unknown[] {
    return this.#prepare(sql)
      .all(...values)
      .map(({ json }) => JSON.parse(String(json)))
  }
}

const whereOf = (account: string, filter: AlertFilter) => {
  const { state, kind, outcome, from_ms, to_ms, devbox_id, search } = filter
  const conditions: [string, ...(string | number)[]][] = [['account = ?', account]]
  if (state !== undefined) conditions.push(['state = ?', state])
  if (kind !== undefined) conditions.push(["alert->>'kind' = ?", kind])
  if (outcome !== undefined) conditions.push([`(${outcomesSql[outcome]})`])
  if (from_ms !== undefined) conditions.push([`${occurredSql} >= ?`, from_ms])
  if (to_ms !== undefined) conditions.push([`${occurredSql} < ?`, to_ms])
  // Alert ids start with the devbox id and `:` or `@`; `;` and `A` follow these in ASCII.
  const ofDevbox = "(id >= ? || ':' AND id < ? || ';' OR id >= ? || '@' AND id < ? || 'A')"
  if (devbox_id !== undefined) conditions.push([ofDevbox, devbox_id, devbox_id, devbox_id, devbox_id])
  if (search !== undefined) conditions.push(['instr(words, ?) > 0', search.toLowerCase()])
  return {
    where: conditions.map(([condition]) => condition).join(' AND '),
    values: conditions.flatMap(([, ...values]) => values),
  }
}
