import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Exclusion, Label, RemovedExclusion } from '#lib/protocol/marks.ts'
import { openConsoleDatabase } from '../data-folder.ts'

type Unsaved<T> = Omit<T, 'id'>

/** Removed exclusions kept per account. */
const maxRemoved = 10_000

const columnsOf = {
  exclusions: 'id, job_id, scenario_id, scenario_name, attempt_id, reason, note, author AS by, at_ms',
  labels: 'id, job_id, scenario_id, scenario_name, attempt_id, label, note, author AS by, at_ms',
} as const

/** Exclusions and labels of outcomes, by account. */
export class JudgmentStore {
  readonly #database: DatabaseSync

  constructor(dataDir: string) {
    this.#database = openConsoleDatabase(
      dataDir,
      'judgment',
      `
      CREATE TABLE IF NOT EXISTS exclusions (
        id TEXT PRIMARY KEY, account TEXT NOT NULL, job_id TEXT NOT NULL, scenario_id TEXT NOT NULL, scenario_name TEXT NOT NULL,
        attempt_id TEXT, reason TEXT NOT NULL, note TEXT NOT NULL, author TEXT NOT NULL, at_ms INTEGER NOT NULL,
        removed_by TEXT, removed_at_ms INTEGER);
      CREATE UNIQUE INDEX IF NOT EXISTS active_exclusions
        ON exclusions (account, job_id, scenario_id, coalesce(attempt_id, '')) WHERE removed_at_ms IS NULL;
      CREATE INDEX IF NOT EXISTS removed_exclusions ON exclusions (account, job_id) WHERE removed_at_ms IS NOT NULL;
      CREATE TABLE IF NOT EXISTS labels (
        id TEXT PRIMARY KEY, account TEXT NOT NULL, job_id TEXT NOT NULL, scenario_id TEXT NOT NULL, scenario_name TEXT NOT NULL,
        attempt_id TEXT NOT NULL, label TEXT NOT NULL, note TEXT NOT NULL, author TEXT NOT NULL, at_ms INTEGER NOT NULL,
        UNIQUE (account, job_id, attempt_id, label));
    `,
    )
  }

  /** Changes with every write, also of another process or console. */
  get version(): string {
    const own = this.#database.prepare('SELECT total_changes() AS n').get()?.n
    return `${own}.${this.#database.prepare('PRAGMA data_version').get()?.data_version}`
  }

  close(): void {
    this.#database.close()
  }

  exclusions(account: string, jobId: string): Exclusion[] {
    return this.#database
      .prepare(
        `SELECT ${columnsOf.exclusions} FROM exclusions
         WHERE account = ? AND job_id = ? AND removed_at_ms IS NULL ORDER BY at_ms, rowid`,
      )
      .all(account, jobId) as unknown as Exclusion[]
  }

  removedExclusions(account: string, jobId: string): RemovedExclusion[] {
    return this.#database
      .prepare(
        `SELECT ${columnsOf.exclusions}, removed_by, removed_at_ms FROM exclusions
         WHERE account = ? AND job_id = ? AND removed_at_ms IS NOT NULL ORDER BY removed_at_ms DESC, rowid DESC`,
      )
      .all(account, jobId) as unknown as RemovedExclusion[]
  }

  labels(account: string, jobId: string): Label[] {
    return this.#database
      .prepare(`SELECT ${columnsOf.labels} FROM labels WHERE account = ? AND job_id = ? ORDER BY at_ms, rowid`)
      .all(account, jobId) as unknown as Label[]
  }

  count(account: string, kind: 'exclusions' | 'labels'): number {
    const isActive = kind === 'exclusions' ? ' AND removed_at_ms IS NULL' : ''
    const row = this.#database.prepare(`SELECT count(*) AS n FROM ${kind} WHERE account = ?${isActive}`).get(account)
    return Number(row?.n)
  }

  /** Outcomes that are excluded already keep their reason and author. */
  exclude(account: string, exclusions: readonly Unsaved<Exclusion>[]): void {
    this.#putAll(
      'INSERT OR IGNORE INTO exclusions (id, account, job_id, scenario_id, scenario_name, attempt_id, reason, note, author, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      exclusions.map((each) => [
        newId('exc'),
        account,
        each.job_id,
        each.scenario_id,
        each.scenario_name,
        each.attempt_id,
        each.reason,
        each.note,
        each.by,
        each.at_ms,
      ]),
    )
  }

  /** Returns undefined if there is no such active exclusion. */
  restore(account: string, id: string, by: string, at_ms: number): RemovedExclusion | undefined {
    const removed = this.#database
      .prepare(
        `UPDATE exclusions SET removed_by = ?, removed_at_ms = ? WHERE account = ? AND id = ? AND removed_at_ms IS NULL
         RETURNING ${columnsOf.exclusions}, removed_by, removed_at_ms`,
      )
      .get(by, at_ms, account, id)
    if (removed)
      this.#database
        .prepare(
          `DELETE FROM exclusions WHERE account = ? AND removed_at_ms IS NOT NULL AND rowid NOT IN (
             SELECT rowid FROM exclusions WHERE account = ? AND removed_at_ms IS NOT NULL ORDER BY removed_at_ms DESC LIMIT ?)`,
        )
        .run(account, account, maxRemoved)
    return removed as RemovedExclusion | undefined
  }

  /** An attempt that has the label already keeps its note and author. */
  label(account: string, labels: readonly Unsaved<Label>[]): void {
    this.#putAll(
      'INSERT OR IGNORE INTO labels (id, account, job_id, scenario_id, scenario_name, attempt_id, label, note, author, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      labels.map((each) => [
        newId('lbl'),
        account,
        each.job_id,
        each.scenario_id,
        each.scenario_name,
        each.attempt_id,
        each.label,
        each.note,
        each.by,
        each.at_ms,
      ]),
    )
  }

  /** Returns undefined if there is no such label. */
  unlabel(account: string, id: string): Label | undefined {
    return this.#database
      .prepare(`DELETE FROM labels WHERE account = ? AND id = ? RETURNING ${columnsOf.labels}`)
      .get(account, id) as Label | undefined
  }

  #putAll(sql: string, rows: readonly (string | number | null)[][]): void {
    const statement = this.#database.prepare(sql)
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      for (const row of rows) statement.run(...row)
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
  }
}

const newId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('base64url')}`
