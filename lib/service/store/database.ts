import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { sizeText } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { addSearchFunctions } from './axons/search-text.ts'
import { busyTimeoutMs } from './checkpoint.ts'
import { LogFlush } from './log-flush.ts'
import { countRecorded, describeCount, hasRecorded, namesIn } from './lost-and-found.ts'
import { Reserve } from './reserve.ts'
import { firstVersion, migrations, schema } from './schema.ts'

export class Database extends DatabaseSync {
  #reserve: Reserve | undefined
  #commandReserve: Reserve | undefined
  #flush: LogFlush | undefined
  #totalChanges: StatementSync | undefined
  /** Changes that don't have to be on disk. */
  #exempt = 0

  /** Called only by the service: other commands must not use up the reserves. */
  openReserves(file: string, commandFile: string) {
    this.#reserve = new Reserve(file)
    this.#commandReserve = new Reserve(commandFile)
  }

  /** From here on, commits don't wait for the disk; `synced` does. */
  syncInBackground(file: string, onFailure: (error: Error) => void) {
    this.exec('PRAGMA synchronous = NORMAL')
    this.#totalChanges = this.prepare('SELECT total_changes() AS count')
    this.#flush = new LogFlush(`${file}-wal`, this.#position(), onFailure)
  }

  /** Resolves once every commit so far is on disk. Await it before anything reveals or relies on a change. */
  synced(): Promise<void> {
    return this.#flush?.flushed(this.#position()) ?? Promise.resolve()
  }

  async stopSync(): Promise<void> {
    await this.#flush?.close(this.#position())
    this.#flush = undefined
    this.exec('PRAGMA synchronous = FULL')
  }

  /** Runs a write that survives a crash of the service, but not a power cut; `synced` doesn't wait for it. */
  withoutSync<T>(write: () => T): T {
    const before = this.#position()
    if (!this.#flush) this.exec('PRAGMA synchronous = NORMAL')
    try {
      return write()
    } finally {
      if (!this.#flush) this.exec('PRAGMA synchronous = FULL')
      this.#exempt += this.#position() - before
    }
  }

  #position(): number {
    const { count = 0 } = (this.#totalChanges?.get() ?? {}) as { count?: number }
    return count - this.#exempt
  }

  /** Runs a write that must succeed on a full disk. Within a transaction, make the whole transaction essential. */
  essential<T>(write: () => T): T {
    return this.#reserve && !this.isTransaction ? this.#reserve.essential(write) : write()
  }

  /** Like `essential`, but uses a separate reserve, so commands such as `rm` can start on a full disk. */
  forCommand<T>(write: () => T): T {
    return this.#commandReserve && !this.isTransaction ? this.#commandReserve.essential(write) : write()
  }
}

interface Options {
  recover?: boolean
  log?: (line: string) => void
  steps?: readonly string[]
}

/** Migrates in one transaction, after a backup. Throws a StartError for an unsupported version or a lost database. */
export const openDatabase = (
  file: string,
  { recover = false, log = () => undefined, steps = migrations }: Options = {},
): Database => {
  if (!recover && isEmpty(file)) requireNoLostDatabase(file)
  const database = new Database(privateFile(file))
  try {
    // Set first: two processes may open a new file at the same time.
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    // FULL: an acknowledged write survives a power cut. The service syncs in the background instead.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    // SQLite's own checkpoint would restart the log without a new generation.
    database.exec('PRAGMA wal_autocheckpoint = 0')
    addSearchFunctions(database)
    if (!recover && versionOf(database) === 0) requireNoLostDatabase(file)
    migrate(database, file, steps, log)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

const isEmpty = (file: string) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0

export const lostDatabase = (file: string): string | undefined => {
  if (!isEmpty(file) && schemaOfFile(file) > 0) return undefined
  const folder = dirname(file)
  const count = countRecorded(folder)
  const log = `${file}-wal`
  const leftovers = [
    ...(hasRecorded(count) ? [describeCount(count)] : []),
    ...(!isEmpty(file) || isEmpty(log) ? [] : [`a write-ahead log of ${sizeText(statSync(log).size)}`]),
  ].join(' and ')
  if (leftovers === '') return undefined
  const backups = backupsOf(file)
  const found = backups.length > 0 ? ` (found ${backups.join(', ')})` : ''
  return `The database ${file} is ${existsSync(file) ? 'empty' : 'missing'}, but ${folder} contains ${leftovers}. Nothing was changed. Restore ${basename(file)} from a backup${found}, or run "npm run service -- recover --data-dir ${folder}" to create a new database that lists them`
}

const requireNoLostDatabase = (file: string) => {
  const problem = lostDatabase(file)
  if (problem !== undefined) throw new StartError(problem)
}

export const schemaOfFile = (file: string): number => {
  if (!existsSync(file)) return 0
  const database = new Database(file, { readOnly: true, timeout: 5000 })
  try {
    return versionOf(database)
  } finally {
    database.close()
  }
}

interface Inspection {
  schema: number
  problem?: string
  validKeys: number
  revokedKeys: number
}

export const inspectDatabase = (file: string): Inspection => {
  const database = new Database(file, { readOnly: true, timeout: 5000 })
  try {
    const schema = versionOf(database)
    const problem = unsupported(schema, file) ?? damageOf(database)
    const keys =
      schema === 0
        ? { validKeys: 0, revokedKeys: 0 }
        : database
            .prepare(
              'SELECT count(*) - count(revoke_time_ms) AS validKeys, count(revoke_time_ms) AS revokedKeys FROM api_keys',
            )
            .get()
    return {
      schema,
      ...(problem !== undefined && { problem }),
      ...(keys as Pick<Inspection, 'validKeys' | 'revokedKeys'>),
    }
  } finally {
    database.close()
  }
}

const damageOf = (database: Database): string | undefined => {
  const [first] = database.prepare('PRAGMA integrity_check(1)').all() as { integrity_check: string }[]
  return first?.integrity_check === 'ok' ? undefined : `damaged: ${first?.integrity_check}`
}

const unsupported = (version: number, file: string, newest = firstVersion + migrations.length): string | undefined => {
  if (version === 0 || (version >= firstVersion && version <= newest)) return undefined
  if (version < firstVersion)
    return `The database has schema ${version}, written by a pre-release of Devdeck and no longer supported. Move the data folder away to start with a new one`
  const usable = backupsOf(file).filter((name) => {
    const backup = Number(/\.v(\d+)\.bak$/.exec(name)?.[1])
    return backup >= firstVersion && backup <= newest
  })
  const restore = usable.length > 0 ? `, or restore ${usable.join(' or ')} as ${basename(file)}` : ''
  return `The database has schema ${version}, written by a newer Devdeck; this version supports ${newest}. Run the newer release${restore}`
}

const versionOf = (database: Database) =>
  (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version

const migrate = (database: Database, file: string, steps: readonly string[], log: (line: string) => void) => {
  const version = versionOf(database)
  const newest = firstVersion + steps.length
  const problem = unsupported(version, file, newest)
  if (problem !== undefined) throw new StartError(problem)
  if (version === newest) return
  if (version > 0) {
    const backup = `${file}.v${version}.bak`
    log(`Migrating the database from schema ${version} to ${newest}; backup: ${basename(backup)}`)
    backUp(database, backup)
  }
  inTransaction(database, () => {
    // Read again: another process may have migrated it in the meantime.
    const current = versionOf(database)
    if (current === 0) database.exec(schema)
    for (const step of steps.slice(Math.max(0, current - firstVersion))) database.exec(step)
    database.exec(`PRAGMA user_version = ${newest}`)
  })
}

/** Written under a temporary name and renamed when complete; replaces the backup of an earlier attempt. */
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

export const removeOldBackups = (file: string, nowMs: number): string[] => {
  const old = backupsOf(file).filter(
    (name) => statSync(join(dirname(file), name)).mtimeMs < nowMs - backupDays * 24 * 60 * 60 * 1000,
  )
  for (const name of old) rmSync(join(dirname(file), name))
  return old
}

const backupsOf = (file: string): string[] =>
  namesIn(dirname(file)).filter((name) => name.startsWith(`${basename(file)}.v`) && name.endsWith('.bak'))

/** Creates the file before SQLite would with a group-readable mode; the log and index files copy the mode. */
const privateFile = (file: string) => {
  // Only if missing: closing a file releases all locks of this process on it, including SQLite's.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  return file
}

export const inTransaction = <T>(database: Database, work: () => T): T => {
  if (database.isTransaction) return work()
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/** In a transaction: Node's `get` and `all` do not report a failed implicit commit, as on a full disk. */
export const returning = <T>(database: Database, statement: StatementSync, ...values: SQLInputValue[]): T | undefined =>
  inTransaction(database, () => statement.get(...values)) as T | undefined
