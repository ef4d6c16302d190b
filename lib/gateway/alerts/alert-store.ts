import type { DatabaseSync } from 'node:sqlite'
import { type Alert, isOpen, maxKeptAlerts, type Silence } from '#lib/wire/alerts.ts'
import { openConsoleDatabase } from '../console-database.ts'

export interface HistoryQuery {
  state?: string | undefined
  devbox_id?: string | undefined
  search?: string | undefined
  limit: number
  starting_after?: string | undefined
}

const alertKey = (account: string, id: string) => `alert ${account} ${id}`

/**
 * Alerts and silences in the console's data folder, by account. The console is their only writer, and several consoles
 * of one service each have their own.
 */
export class AlertStore {
  readonly #database: DatabaseSync
  /** What the disk did not take, by what it is about: the last word about each. */
  readonly #unwritten = new Map<string, { write(): void; alert?: Alert }>()
  /** Why something is unwritten; null when nothing is. */
  #problem: string | null = null

  constructor(dataDir: string) {
    // After a power cut an acknowledgement may be lost, for which the alert itself then asks again.
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

  get problem(): string | null {
    return this.#problem
  }

  /** An alert that the disk does not take is kept all the same, and written with what is written next. */
  put(account: string, alert: Alert): void {
    this.#write(alertKey(account, alert.id), { write: () => this.#put(account, alert), alert })
  }

  #put(account: string, alert: Alert): void {
    const { devbox_id, devbox_name, metadata, job, acknowledged_by } = alert
    const named = [devbox_id, devbox_name, job?.id, job?.name, acknowledged_by].map((word) => word ?? '')
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
    if (!isOpen(alert))
      this.#run(
        `DELETE FROM alerts WHERE account = ? AND state NOT IN ('new', 'acknowledged') AND first_heard_ms <= (
           SELECT first_heard_ms FROM alerts WHERE account = ? ORDER BY first_heard_ms DESC LIMIT 1 OFFSET ?)`,
        account,
        account,
        maxKeptAlerts,
      )
  }

  get(account: string, id: string): Alert | undefined {
    const unwritten = this.#unwritten.get(alertKey(account, id))?.alert
    if (unwritten) return unwritten
    return this.#rows('SELECT alert AS json FROM alerts WHERE account = ? AND id = ?', account, id)[0] as
      | Alert
      | undefined
  }

  /** All that are not over. */
  open(account: string): Alert[] {
    return this.#rows(
      "SELECT alert AS json FROM alerts WHERE account = ? AND state IN ('new', 'acknowledged')",
      account,
    ) as Alert[]
  }

  /** Newest first. */
  history(account: string, { state, devbox_id, search, limit, starting_after }: HistoryQuery) {
    const wheres = ['account = ?']
    const values: (string | number)[] = [account]
    if (state !== undefined) {
      wheres.push('state = ?')
      values.push(state)
    }
    if (devbox_id !== undefined) {
      // The ids of a devbox's alerts all begin with its own; `;` is what follows `:`, and `A` what follows `@`.
      wheres.push("(id >= ? || ':' AND id < ? || ';' OR id >= ? || '@' AND id < ? || 'A')")
      values.push(devbox_id, devbox_id, devbox_id, devbox_id)
    }
    if (search !== undefined) {
      wheres.push('instr(words, ?) > 0')
      values.push(search.toLowerCase())
    }
    const counted = this.#database
      .prepare(`SELECT count(*) AS n FROM alerts WHERE ${wheres.join(' AND ')}`)
      .get(...values) as { n: number }
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

  /** Those that are not over. */
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

  /** False when there is none of this id. */
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
    const sql = 'INSERT OR IGNORE INTO followed_jobs VALUES (?, ?)'
    this.#write(`job ${account} ${jobId}`, { write: () => this.#run(sql, account, jobId) })
  }

  unfollowJob(account: string, jobId: string): void {
    const sql = 'DELETE FROM followed_jobs WHERE account = ? AND job_id = ?'
    this.#write(`job ${account} ${jobId}`, { write: () => this.#run(sql, account, jobId) })
  }

  /** When the service was last asked for what no stream tells; null when it never was. */
  lookedMs(account: string): number | null {
    const row = this.#database.prepare('SELECT looked_ms FROM looks WHERE account = ?').get(account)
    return row ? Number(row.looked_ms) : null
  }

  setLookedMs(account: string, ms: number): void {
    const sql = 'INSERT OR REPLACE INTO looks VALUES (?, ?)'
    this.#write(`looked ${account}`, { write: () => this.#run(sql, account, ms) })
  }

  /** Never throws: a full disk must not keep an alert from people. */
  #write(about: string, what: { write(): void; alert?: Alert }): void {
    // Written after what is unwritten, so that of two words about one alert the later one stays.
    this.#unwritten.delete(about)
    this.#unwritten.set(about, what)
    try {
      for (const [each, { write }] of this.#unwritten) {
        write()
        this.#unwritten.delete(each)
      }
      this.#problem = null
    } catch (error) {
      if (this.#problem === null) console.error('Alerts cannot be written down:', error)
      this.#problem = (error as Error).message
    }
  }

  #run(sql: string, ...values: (string | number)[]): number {
    return Number(this.#database.prepare(sql).run(...values).changes)
  }

  #rows(sql: string, ...values: (string | number)[]): unknown[] {
    return this.#database
      .prepare(sql)
      .all(...values)
      .map(({ json }) => JSON.parse(String(json)))
  }
}
