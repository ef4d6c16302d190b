import type { DatabaseSync } from 'node:sqlite'
import { type Activity, type ActivityList, maxStoredActivities } from '#lib/protocol/activity.ts'
import { openConsoleDatabase } from '../data-folder.ts'

export interface ActivityQuery {
  search?: string | undefined
  outcome?: 'done' | 'refused' | undefined
  limit: number
  starting_after?: string | undefined
}

/** Pruning scans the whole table, so it runs once in this many writes. */
const pruneEvery = 100

/** Append-only log of changes made from this console, by account. */
export class ActivityStore {
  readonly #database: DatabaseSync

  constructor(dataDir: string) {
    this.#database = openConsoleDatabase(
      dataDir,
      'activity',
      `
      CREATE TABLE IF NOT EXISTS activities (
        id INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, at_ms INTEGER NOT NULL, operation TEXT NOT NULL,
        subject TEXT, status INTEGER NOT NULL, browser TEXT NOT NULL, address TEXT NOT NULL,
        person TEXT);
      CREATE INDEX IF NOT EXISTS activities_by_account ON activities (account, id);
    `,
    )
    const columns = this.#database.prepare("SELECT name FROM pragma_table_info('activities')").all()
    if (!columns.some(({ name }) => name === 'person'))
      this.#database.exec('ALTER TABLE activities ADD COLUMN person TEXT')
  }

  close(): void {
    this.#database.close()
  }

  put(account: string, { at_ms, operation, subject, status, person, browser, address }: Omit<Activity, 'id'>): void {
    const { lastInsertRowid } = this.#database
      .prepare(
        'INSERT INTO activities (account, at_ms, operation, subject, status, person, browser, address) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .run(account, at_ms, operation, subject, status, person, browser, address)
    if (Number(lastInsertRowid) % pruneEvery === 0)
      this.#database
        .prepare(
          `DELETE FROM activities WHERE account = ? AND id <= (
             SELECT id FROM activities WHERE account = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
        )
        .run(account, account, maxStoredActivities)
  }

  list(account: string, { search, outcome, limit, starting_after }: ActivityQuery): ActivityList {
    const wheres = ['account = ?']
    const values: (string | number)[] = [account]
    if (search !== undefined) {
      const words =
        "operation || ' ' || coalesce(subject, '') || ' ' || coalesce(person, '') || ' ' || browser || ' ' || address"
      wheres.push(`instr(lower(${words}), ?) > 0`)
      values.push(search.toLowerCase())
    }
    if (outcome !== undefined) wheres.push(outcome === 'done' ? 'status < 400' : 'status >= 400')
    const { n } = this.#database
      .prepare(`SELECT count(*) AS n FROM activities WHERE ${wheres.join(' AND ')}`)
      .get(...values) as { n: number }
    if (starting_after !== undefined) {
      wheres.push('id < ?')
      values.push(Number(starting_after))
    }
    const rows = this.#database
      .prepare(
        `SELECT CAST(id AS TEXT) AS id, at_ms, operation, subject, status, person, browser, address FROM activities
         WHERE ${wheres.join(' AND ')} ORDER BY activities.id DESC LIMIT ?`,
      )
      .all(...values, limit + 1) as unknown as Activity[]
    return { activities: rows.slice(0, limit), has_more: rows.length > limit, total_count: n }
  }
}
