import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { sizeText } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { addSearchFunctions } from './axons/search-text.ts'
import { countRecorded, inWords, namesIn } from './lost-and-found.ts'
import { migrations } from './migrations.ts'
import { Reserve } from './reserve.ts'

const busyTimeoutMs = 5000

export class Database extends DatabaseSync {
  #reserve: Reserve | undefined
  #commandReserve: Reserve | undefined

  /** For the service alone: a command beside it must not spend its reserves. */
  keepReserves(file: string, commandFile: string) {
    this.#reserve = new Reserve(file)
    this.#commandReserve = new Reserve(commandFile)
  }

  /**
   * Moves the write-ahead log into the file and restarts the log, with an odd generation before and an even one after. From
   * these a start finds out whether a log belongs to the file: one restored from a backup has an older generation.
   */
  newGeneration() {
    // First: on a full disk it makes the room that the next writes need.
    this.exec('PRAGMA wal_checkpoint(PASSIVE)')
    this.#stamp('odd')
    // Without waiting for readers: the log continues then, and restarts the next time.
    this.exec('PRAGMA busy_timeout = 0')
    try {
      this.exec('PRAGMA wal_checkpoint(RESTART)')
    } finally {
      this.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
      this.#stamp('even')
    }
  }

  #stamp(parity: 'odd' | 'even') {
    const { application_id } = this.prepare('PRAGMA application_id').get() as { application_id: number }
    const next = application_id + 1
    this.exec(`PRAGMA application_id = ${next % 2 === (parity === 'odd' ? 1 : 0) ? next : next + 1}`)
  }

  /**
   * A write of what has happened already, or of what makes room: it finds room on a full disk. Within a transaction,
   * which a full disk ends, it is a write like any other: the whole transaction has to be essential.
   */
  essential<T>(write: () => T): T {
    return this.#reserve && !this.isTransaction ? this.#reserve.essential(write) : write()
  }

  /**
   * A write without which no command runs, as `rm` would: it finds room on a full disk, in a reserve of its own. However
   * many commands are tried, what is essential keeps its room.
   */
  forCommand<T>(write: () => T): T {
    return this.#commandReserve && !this.isTransaction ? this.#commandReserve.essential(write) : write()
  }
}

/**
 * Opens the database file, or creates it, and brings its schema up to date in one transaction; of an older one a copy is
 * kept beside it. Throws a StartError when the file was written by a newer version, or is new beside devboxes or
 * snapshots that it would not know; `recover` creates it all the same. `tell` gets the progress of a migration.
 */
export const openDatabase = (
  file: string,
  { recover = false, tell = () => undefined }: { recover?: boolean; tell?: (line: string) => void } = {},
): Database => {
  if (!recover && isEmpty(file)) refuseBesideData(file)
  const database = new Database(privateFile(file))
  try {
    // First of all: two processes may open a new file at the same moment.
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    // WAL keeps readers and the writer apart. FULL: an acknowledged write survives a power cut on an honest disk.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    // SQLite would restart the log without a generation.
    database.exec('PRAGMA wal_autocheckpoint = 0')
    addSearchFunctions(database)
    if (!recover && schemaVersion(database) === 0) refuseBesideData(file)
    migrate(database, file, tell)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

const isEmpty = (file: string) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0

/** Why the file may not become a new database: what is beside it belongs to one that is lost. */
export const lostDatabase = (file: string): string | undefined => {
  if (existsSync(file) && !isEmpty(file) && schemaOfFile(file) > 0) return undefined
  const folder = dirname(file)
  const count = countRecorded(folder)
  const log = `${file}-wal`
  const beside = [
    ...(count.devboxes + count.snapshots > 0 ? [inWords(count)] : []),
    ...(!isEmpty(file) || isEmpty(log) ? [] : [`a write-ahead log of ${sizeText(statSync(log).size)}`]),
  ].join(' and ')
  if (beside === '') return undefined
  const backups = backupsOf(file)
  const from = backups.length > 0 ? ` (here are ${backups.join(', ')})` : ''
  return `The database ${file} is ${existsSync(file) ? 'empty' : 'missing'}, but ${folder} holds ${beside}. Nothing was changed. Either restore ${basename(file)} from a backup${from}, or run "npm run service -- recover --data-dir ${folder}" to create a new one that lists what is found`
}

const refuseBesideData = (file: string) => {
  const problem = lostDatabase(file)
  if (problem !== undefined) throw new StartError(problem)
}

/** Read without a change to the file; 0 when there is none. */
export const schemaOfFile = (file: string): number => {
  if (!existsSync(file)) return 0
  const database = new Database(file, { readOnly: true, timeout: 5000 })
  try {
    return schemaVersion(database)
  } finally {
    database.close()
  }
}

interface Inspection {
  schema: number
  /** Why the service cannot use it, in words. */
  problem?: string
  validKeys: number
  revokedKeys: number
}

/** Reads through the whole file without a change to it. Throws when it is no database. */
export const inspectDatabase = (file: string): Inspection => {
  const database = new Database(file, { readOnly: true, timeout: 5000 })
  try {
    const schema = schemaVersion(database)
    const problem = schema > migrations.length ? newerThanThis(schema, file) : brokenness(database)
    const hasKeys = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'api_keys'").get() !== undefined
    const count = (condition: string) =>
      hasKeys
        ? (
            database.prepare(`SELECT count(*) AS n FROM api_keys WHERE revoke_time_ms ${condition}`).get() as {
              n: number
            }
          ).n
        : 0
    return {
      schema,
      ...(problem === undefined ? {} : { problem }),
      validKeys: count('IS NULL'),
      revokedKeys: count('IS NOT NULL'),
    }
  } finally {
    database.close()
  }
}

const brokenness = (database: Database): string | undefined => {
  const [first] = database.prepare('PRAGMA integrity_check(1)').all() as { integrity_check: string }[]
  return first?.integrity_check === 'ok' ? undefined : `damaged: ${first?.integrity_check}`
}

const newerThanThis = (schema: number, file: string) => {
  const usable = backupsOf(file).filter((name) => Number(/\.v(\d+)\.bak$/.exec(name)?.[1]) <= migrations.length)
  const older = usable.length > 0 ? `, or restore ${usable.join(' or ')} as ${basename(file)}` : ''
  return `The database has schema ${schema}, written by a newer Devdeck; this one knows ${migrations.length}. Run the newer release${older}`
}

const schemaVersion = (database: Database) =>
  (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version

const migrate = (database: Database, file: string, tell: (line: string) => void) => {
  const version = schemaVersion(database)
  if (version > migrations.length) throw new StartError(newerThanThis(version, file))
  if (version === migrations.length) return
  if (version > 0) {
    const backup = `${file}.v${version}.bak`
    tell(`Migrating the database from schema ${version} to ${migrations.length}: copying it to ${basename(backup)}`)
    backUp(database, backup)
  }
  inTransaction(database, () => {
    // Read again: another process may have been faster.
    for (let step = schemaVersion(database); step < migrations.length; step++) {
      if (version > 0) tell(`Migrating the database: step ${step + 1 - version} of ${migrations.length - version}`)
      database.exec(migrations[step] as string)
    }
    database.exec(`PRAGMA user_version = ${migrations.length}`)
  })
  if (version > 0) tell('The database is migrated')
}

/** Under its name only once it is whole and on the disk; one of an earlier try is replaced. */
const backUp = (database: Database, file: string) => {
  const part = `${file}.part`
  rmSync(part, { force: true })
  database.prepare('VACUUM INTO ?').run(privateFile(part))
  const handle = openSync(part, 'r+')
  fsyncSync(handle)
  closeSync(handle)
  renameSync(part, file)
}

const backupDays = 7

/** Deletes the copies of older schemas once the migrated database has been good for a week. Returns their names. */
export const removeOldBackups = (file: string, nowMs: number): string[] => {
  const old = backupsOf(file).filter(
    (name) => statSync(join(dirname(file), name)).mtimeMs < nowMs - backupDays * 24 * 60 * 60 * 1000,
  )
  for (const name of old) rmSync(join(dirname(file), name))
  return old
}

const backupsOf = (file: string): string[] =>
  namesIn(dirname(file)).filter((name) => name.startsWith(`${basename(file)}.v`) && name.endsWith('.bak'))

/** Made before SQLite does, which would let the group and others read it; its side files copy the mode. */
const privateFile = (file: string) => {
  // Not when it is there: closing a file releases the locks that this process has on it, SQLite's too.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  return file
}

/** Runs `work` in one immediate transaction, or as a part of the one that has begun: all of it is kept, or none. */
export const inTransaction = <T>(database: Database, work: () => T): T => {
  if (database.isTransaction) return work()
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // A full disk has already ended the transaction.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/**
 * The first row a writing statement with RETURNING answers. Node's own `get` and `all` do not tell when SQLite cannot
 * commit such a statement, as on a full disk: the row would look written and be nowhere.
 */
export const returning = <T>(database: Database, statement: StatementSync, ...values: SQLInputValue[]): T | undefined =>
  inTransaction(database, () => statement.get(...values)) as T | undefined
