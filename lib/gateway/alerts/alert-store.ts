import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Alert, isOpen, maxStoredAlerts, type Silence } from '#lib/protocol/alerts.ts'
import { openConsoleDatabase } from '../data-folder.ts'

export interface HistoryQuery {
  state?: string | undefined
  devbox_id?: string | undefined
  search?: string | undefined
  limit: number
  starting_after?: string | undefined
}

/** Pruning reads the whole history, so it runs once in this many closed alerts. */
const pruneEvery = 100

/** Stores alerts and silences per account in the console's data folder. The console is the only writer. */
export class AlertStore {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  /** Alerts that could not be written, by account and id. */
  readonly #unwritten = new Map<string, { account: string; alert: Alert }>()
  #closed = 0
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
      CREATE TABLE IF NOT EXISTS silences (
        account TEXT NOT NULL, id TEXT NOT NULL, until_ms INTEGER NOT NULL, silence TEXT NOT NULL,
        PRIMARY KEY (account, id)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS followed_jobs (
        account TEXT NOT NULL, job_id TEXT NOT NULL, PRIMARY KEY (account, job_id)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS looks (account TEXT PRIMARY KEY, looked_ms INTEGER NOT NULL) WITHOUT ROWID;
    `,
    )
  }

  close(): void {
    this.#database.close()
  }

  /** Never throws: alerts must work even with a full disk. Unwritten ones are retried with the next write. */
  put(account: string, alert: Alert): void {
    this.#unwritten.set(`${account} ${alert.id}`, { account, alert })
    this.#try(() => {
      for (const [key, unwritten] of this.#unwritten) {
        this.#put(unwritten.account, unwritten.alert)
        this.#unwritten.delete(key)
      }
      if (!isOpen(alert) && this.#closed++ % pruneEvery === 0) this.#prune(account)
    })
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
    const unwritten = this.#unwritten.get(`${account} ${id}`)?.alert
    if (unwritten) return unwritten
    return this.#rows('SELECT alert AS json FROM alerts WHERE account = ? AND id = ?', account, id)[0] as
      | Alert
      | undefined
  }

  open(account: string): Alert[] {
    return this.#rows(
      "SELECT alert AS json FROM alerts WHERE account = ? AND state IN ('new', 'acknowledged')",
      account,
    ) as Alert[]
  }

  history(account: string, { state, devbox_id, search, limit, starting_after }: HistoryQuery) {
    const wheres = ['account = ?']
    const values: (string | number)[] = [account]
    if (state !== undefined) {
      wheres.push('state = ?')
      values.push(state)
    }
    if (devbox_id !== undefined) {
      // Alert ids start with the devbox id and `:` or `@`; `;` and `A` follow these in ASCII.
      wheres.push("(id >= ? || ':' AND id < ? || ';' OR id >= ? || '@' AND id < ? || 'A')")
      values.push(devbox_id, devbox_id, devbox_id, devbox_id)
    }
    if (search !== undefined) {
      wheres.push('instr(words, ?) > 0')
      values.push(search.toLowerCase())
    }
    const counted = this.#prepare(`SELECT count(*) AS n FROM alerts WHERE ${wheres.join(' AND ')}`).get(...values) as {
      n: number
    }
    if (starting_after !== undefined) {
      wheres.push('(first_heard_ms, id) < (SELECT first_heard_ms, id FROM alerts WHERE account = ? AND id = ?)')
      values.push(account, starting_after)
    }
    const alerts = this.#rows(
      `SELECT alert AS json FROM alerts WHERE ${wheres.join(' AND ')} ORDER BY first_heard_ms DESC, id DESC LIMIT ?`,
      ...values,
      limit + 1,
    ) as Alert[]
    return { alerts: alerts.slice(0, limit), has_more: alerts.length > limit, total_count: counted.n }
  }

  silences(account: string, nowMs: number): Silence[] {
    return this.#rows(
      'SELECT silence AS json FROM silences WHERE account = ? AND until_ms > ? ORDER BY until_ms, id',
      account,
      nowMs,
    ) as Silence[]
  }

  putSilence(account: string, silence: Silence): void {
    this.#run('DELETE FROM silences WHERE until_ms <= ?', silence.created_ms)
    this.#run(
      'INSERT OR REPLACE INTO silences VALUES (?, ?, ?, ?)',
      account,
      silence.id,
      silence.until_ms,
      JSON.stringify(silence),
    )
  }

  deleteSilence(account: string, id: string): boolean {
    return this.#run('DELETE FROM silences WHERE account = ? AND id = ?', account, id) > 0
  }

  followedJobs(account: string): string[] {
    return this.#database
      .prepare('SELECT job_id FROM followed_jobs WHERE account = ?')
      .all(account)
      .map(({ job_id }) => String(job_id))
  }

  followJob(account: string, jobId: string): void {
    this.#try(() => this.#run('INSERT OR IGNORE INTO followed_jobs VALUES (?, ?)', account, jobId))
  }

  unfollowJob(account: string, jobId: string): void {
    this.#try(() => this.#run('DELETE FROM followed_jobs WHERE account = ? AND job_id = ?', account, jobId))
  }

  polledMs(account: string): number | null {
    const row = this.#database.prepare('SELECT looked_ms FROM looks WHERE account = ?').get(account)
    return row ? Number(row.looked_ms) : null
  }

  setPolledMs(account: string, ms: number): void {
    this.#try(() => this.#run('INSERT OR REPLACE INTO looks VALUES (?, ?)', account, ms))
  }

  #try(write: () => void): void {
    try {
      write()
      if (this.#unwritten.size === 0) this.problem = null
    } catch (error) {
      if (this.problem === null) console.error('Could not store alerts:', error)
      this.problem = (error as Error).message
    }
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  #run(sql: string, ...values: (string | number)[]): number {
    return Number(this.#prepare(sql).run(...values).changes)
  }

  #rows(sql: string, ...values: (string | number)[]): unknown[] {
    return this.#prepare(sql)
      .all(...values)
      .map(({ json }) => JSON.parse(String(json)))
  }
}
