import { existsSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/** A row of any table; `row` is null once it is deleted. */
export interface SharedRow {
  store: string
  tbl: string
  /** JSON of the primary key's values. */
  key: string
  /** JSON of the columns. */
  row: string | null
}

/** A console's local copy of a shared database. Reports rows changed here and applies the changes of other consoles. */
export class SharedDatabase {
  readonly #name: string
  readonly #database: DatabaseSync
  readonly #keys: Record<string, string[]>
  readonly #changed = new Map<string, Pick<SharedRow, 'tbl' | 'key'>>()
  #isApplying = false

  constructor(name: string, database: DatabaseSync, onChange: () => void) {
    this.#name = name
    this.#database = database
    // A replaced row counts as deleted.
    database.exec('PRAGMA recursive_triggers = ON')
    this.#keys = Object.fromEntries(tablesOf(database).map((table) => [table, keyOf(database, table)]))
    database.function('devdeck_changed', (tbl, key) => {
      if (this.#isApplying) return null
      this.#changed.set(`${tbl} ${key}`, { tbl: String(tbl), key: String(key) })
      onChange()
      return null
    })
    for (const [table, key] of Object.entries(this.#keys)) {
      const changed = (row: 'OLD' | 'NEW') =>
        `SELECT devdeck_changed('${table}', json_array(${key.map((column) => `${row}."${column}"`)}));`
      for (const [operation, rows] of Object.entries({ INSERT: ['NEW'], UPDATE: ['OLD', 'NEW'], DELETE: ['OLD'] }))
        database.exec(
          `CREATE TEMP TRIGGER shared_${table}_${operation} AFTER ${operation} ON main."${table}"
           BEGIN ${rows.map((row) => changed(row as 'OLD' | 'NEW')).join(' ')} END`,
        )
    }
  }

  /** Current contents of the changed rows. */
  take(): SharedRow[] {
    const rows = [...this.#changed.values()].map(({ tbl, key }) => {
      const row = this.#database.prepare(`SELECT * FROM "${tbl}" WHERE ${this.#where(tbl)}`).get(...valuesOf(key))
      return { store: this.#name, tbl, key, row: row ? JSON.stringify(row) : null }
    })
    this.#changed.clear()
    return rows
  }

  /** Skips rows that this console has changed: its own version is newer. */
  apply(rows: readonly SharedRow[]): void {
    this.#isApplying = true
    this.#database.exec('BEGIN')
    try {
      for (const { tbl, key, row } of rows) {
        if (!this.#keys[tbl] || this.#changed.has(`${tbl} ${key}`)) continue
        if (row === null) {
          this.#database.prepare(`DELETE FROM "${tbl}" WHERE ${this.#where(tbl)}`).run(...valuesOf(key))
          continue
        }
        const values = JSON.parse(row) as Record<string, SQLInputValue>
        // A newer console may have added columns.
        const columns = columnsOf(this.#database, tbl).filter((column) => column in values)
        this.#database
          .prepare(
            `INSERT OR REPLACE INTO "${tbl}" (${columns.map((column) => `"${column}"`)}) VALUES (${columns.map(() => '?')})`,
          )
          .run(...columns.map((column) => values[column] ?? null))
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    } finally {
      this.#isApplying = false
    }
  }

  /** Imports the data that a console stored in its data folder before it had a shared store. */
  import(file: string): void {
    if (!existsSync(file)) return
    this.#database.prepare('ATTACH ? AS old').run(file)
    const known = this.#database.prepare("SELECT name FROM old.sqlite_schema WHERE type = 'table'").all()
    for (const table of Object.keys(this.#keys)) {
      if (!known.some(({ name }) => name === table)) continue
      const old = columnsOf(this.#database, table, 'old')
      const columns = columnsOf(this.#database, table)
        .filter((column) => old.includes(column))
        .map((column) => `"${column}"`)
      this.#database.exec(`INSERT OR IGNORE INTO main."${table}" (${columns}) SELECT ${columns} FROM old."${table}"`)
    }
    this.#database.exec('DETACH old')
  }

  #where(table: string): string {
    return (this.#keys[table] ?? []).map((column) => `"${column}" = ?`).join(' AND ')
  }
}

const tablesOf = (database: DatabaseSync): string[] =>
  database
    .prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => String(name))

const keyOf = (database: DatabaseSync, table: string): string[] =>
  database
    .prepare("SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0 ORDER BY pk")
    .all(table)
    .map(({ name }) => String(name))

const columnsOf = (database: DatabaseSync, table: string, schema: 'main' | 'old' = 'main'): string[] =>
  database
    .prepare('SELECT name FROM pragma_table_info(?, ?)')
    .all(table, schema)
    .map(({ name }) => String(name))

const valuesOf = (key: string) => JSON.parse(key) as SQLInputValue[]
