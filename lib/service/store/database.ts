import { DatabaseSync } from 'node:sqlite'
import { StartError } from '#lib/service/data-dir.ts'
import { migrations } from './migrations.ts'

export type Database = DatabaseSync

/**
 * Opens the database file, or makes it, and brings its schema up to date in one transaction.
 * Throws a StartError when the file was written by a newer version.
 */
export const openDatabase = (file: string): Database => {
  const database = new DatabaseSync(file)
  // WAL keeps readers and the writer apart. FULL: an acknowledged write survives a power cut on an honest disk.
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON',
  )
  migrate(database)
  return database
}

const migrate = (database: Database) => {
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  if (version > migrations.length)
    throw new StartError(
      `The database has schema ${version}, written by a newer Devdeck; this one knows ${migrations.length}`,
    )
  if (version === migrations.length) return
  inTransaction(database, () => {
    for (const sql of migrations.slice(version)) database.exec(sql)
    database.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

/** Runs `work` in one immediate transaction: all of it is kept, or none. */
export const inTransaction = <T>(database: Database, work: () => T): T => {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}
