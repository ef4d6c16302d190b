import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { logError, logInfo } from '../observability/log.ts'
import type { CurrentStore } from './current-store.ts'
import { SharedDatabase, type SharedRow } from './shared-database.ts'

const tables = `
  CREATE SEQUENCE IF NOT EXISTS devdeck_changes;
  CREATE TABLE IF NOT EXISTS devdeck_rows (
    store text NOT NULL, tbl text NOT NULL, key text NOT NULL, "row" json, change bigint NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (store, tbl, key));
  CREATE INDEX IF NOT EXISTS devdeck_rows_by_change ON devdeck_rows (change);
  CREATE TABLE IF NOT EXISTS devdeck_secrets (name text PRIMARY KEY, secret text NOT NULL);
  CREATE TABLE IF NOT EXISTS devdeck_leader (id int PRIMARY KEY, url text NOT NULL);
`

/** Advisory locks. Writers take turns, so that changes commit in the order of their numbers. One console leads. */
const [writing, leading] = [0x64657601, 0x64657602]
const rowsPerStatement = 2_000
const storedMs = 5_000

interface Events {
  /** This console has become the leader. */
  onLead(): void
  /** Another console took over while this one was cut off. */
  onStepDown(): void
}

// Data shared by several consoles in PostgreSQL. Each console reads its own copy in memory, so pages stay fast and work
// while the store is unavailable. Changed rows are written in the same turn and announced to the other consoles.
export class SharedStore implements CurrentStore {
  readonly #url: string
  readonly #ownUrl: string
  readonly #pool: pg.Pool
  readonly #databases = new Map<string, SharedDatabase>()
  /** Rows of databases that are not open yet. */
  readonly #waiting = new Map<string, Map<string, SharedRow>>()
  readonly #leaving = new AbortController()
  readonly #closing = new AbortController()
  #change = 0
  /** Read from the databases but not stored yet. */
  #unstored = new Map<string, SharedRow>()
  /** Changes by other consoles to rows that this console is about to store. */
  readonly #skipped = new Map<string, ChangedRow>()
  #flushing: Promise<string[]> | undefined
  #catchingUp: Promise<void> | undefined
  #isScheduled = false
  #isRetrying = false
  #events: Events | undefined
  #listening: Promise<void> | undefined
  #leaderUrl: string | undefined
  leads = false
  problem: string | undefined

  /** `ownUrl`: where the other consoles reach this one. */
  constructor(url: string, ownUrl: string) {
    this.#url = url
    this.#ownUrl = ownUrl
    this.#pool = new pg.Pool({ connectionString: url, max: 4, connectionTimeoutMillis: 3_000, query_timeout: 10_000 })
    this.#pool.on('error', (error) => this.#failed(error))
    // The pool ignores connections in use, and an error between two queries would end the console. The next query fails.
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
  }

  /** URL of the leading console; undefined if there is none or this console leads. */
  get leaderUrl(): string | undefined {
    return this.leads || this.#leaderUrl === this.#ownUrl ? undefined : this.#leaderUrl
  }

  /** Reads everything. Rejects if the store can't be reached. */
  async open(): Promise<void> {
    const client = await this.#pool.connect()
    try {
      await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${writing}); ${tables} COMMIT`)
    } finally {
      client.release()
    }
    // A console that was cut off for longer than this must restart to learn about deletions.
    await this.#pool.query(`DELETE FROM devdeck_rows WHERE "row" IS NULL AND changed_at < now() - interval '7 days'`)
    await this.catchUp()
  }

  /** The first console's session secret, which all consoles use. */
  async secret(name: string, own: string): Promise<string> {
    await this.#pool.query('INSERT INTO devdeck_secrets VALUES ($1, $2) ON CONFLICT DO NOTHING', [name, own])
    const { rows } = await this.#pool.query('SELECT secret FROM devdeck_secrets WHERE name = $1', [name])
    return String(rows[0]?.secret)
  }

  attach(name: string, database: DatabaseSync, file: string | undefined): void {
    const shared = new SharedDatabase(name, database, () => this.#schedule())
    this.#databases.set(name, shared)
    const rows = [...(this.#waiting.get(name)?.values() ?? [])]
    this.#waiting.delete(name)
    if (rows.length > 0) shared.apply(rows)
    else if (file !== undefined) shared.import(file)
    const close = database.close.bind(database)
    database.close = () => {
      this.#take(shared)
      this.#databases.delete(name)
      close()
      this.#schedule()
    }
  }

  /** Joins the other consoles: receives their changes, and becomes the leader when there is none. */
  join(events: Events): void {
    this.#events = events
    this.#listening = this.#listen()
  }

  async stored(): Promise<void> {
    this.#takeAll()
    const late = delay(storedMs, undefined, { signal: this.#closing.signal }).then(() => {
      throw new Error('the store did not respond in time')
    })
    late.catch(() => undefined)
    // Not those that change from now on: under load there are always some.
    const waiting = new Set(this.#unstored.keys())
    // It may write earlier versions of these rows.
    await Promise.race([this.#flushing?.catch(() => undefined), late])
    for (;;) {
      for (const id of waiting) if (!this.#unstored.has(id)) waiting.delete(id)
      if (waiting.size === 0) return
      for (const id of await Promise.race([this.#flush(), late])) waiting.delete(id)
    }
  }

  /** Applies the changes of the other consoles. */
  async catchUp(): Promise<void> {
    // One that began earlier may have missed the latest changes.
    await this.#catchingUp?.catch(() => undefined)
    this.#catchingUp ??= this.#readChanges().finally(() => {
      this.#catchingUp = undefined
    })
    return this.#catchingUp
  }

  /** Leaves alerts and terminals to another console. */
  async leave(): Promise<void> {
    await this.stored().catch((error) => logError('Changes could not be stored', error))
    this.#leaving.abort()
    await this.#listening
    this.leads = false
  }

  async close(): Promise<void> {
    await this.leave()
    this.#closing.abort()
    await this.#pool.end()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#closing.signal.aborted) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#takeAll()
      this.#flush().catch(() => undefined)
    })
  }

  #takeAll(): void {
    for (const database of this.#databases.values()) this.#take(database)
  }

  #take(database: SharedDatabase): void {
    for (const row of database.take()) this.#unstored.set(rowId(row), row)
  }

  #flush(): Promise<string[]> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  /** Stores the oldest changes and returns their ids. Changes that can't be stored are kept and stored with the next ones, or when the store is back. */
  async #write(): Promise<string[]> {
    const rows = [...this.#unstored.values()].slice(0, rowsPerStatement)
    if (rows.length === 0) return []
    let written: readonly Omit<ChangedRow, 'row'>[]
    try {
      const client = await this.#pool.connect()
      try {
        await client.query('BEGIN')
        await client.query('SELECT pg_advisory_xact_lock($1)', [writing])
        const result = await client.query<Omit<ChangedRow, 'row'>>(
          `INSERT INTO devdeck_rows (store, tbl, key, "row", change)
           SELECT s, t, k, r::json, nextval('devdeck_changes')
           FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS u (s, t, k, r)
           ON CONFLICT (store, tbl, key)
           DO UPDATE SET "row" = excluded."row", change = excluded.change, changed_at = now()
           RETURNING store, tbl, key, change`,
          [
            rows.map(({ store }) => store),
            rows.map(({ tbl }) => tbl),
            rows.map(({ key }) => key),
            rows.map(({ row }) => row),
          ],
        )
        written = result.rows
        await client.query('NOTIFY devdeck_changes')
        await client.query('COMMIT')
        client.release()
      } catch (error) {
        client.release(true)
        throw error
      }
    } catch (error) {
      this.#failed(error as Error)
      throw error
    }
    this.#worked()
    const changes = new Map(written.map((each) => [rowId(each), Number(each.change)]))
    for (const row of rows) {
      const id = rowId(row)
      // A row that has changed again since then is another object.
      if (this.#unstored.get(id) !== row) continue
      this.#unstored.delete(id)
      const skipped = this.#skipped.get(id)
      this.#skipped.delete(id)
      if (skipped && Number(skipped.change) > (changes.get(id) ?? 0)) this.#apply(row.store, [skipped])
    }
    if (this.#unstored.size > 0) this.#schedule()
    return rows.map(rowId)
  }

  async #readChanges(): Promise<void> {
    for (let isMore = true; isMore; ) {
      const { rows } = await this.#pool.query<ChangedRow>(
        `SELECT store, tbl, key, "row"::text, change FROM devdeck_rows WHERE change > $1 ORDER BY change LIMIT ${rowsPerStatement}`,
        [this.#change],
      )
      for (const [name, changed] of Map.groupBy(rows, ({ store }) => store)) this.#apply(name, changed)
      this.#change = Number(rows.at(-1)?.change ?? this.#change)
      isMore = rows.length === rowsPerStatement
    }
    this.#worked()
  }

  #apply(name: string, rows: readonly ChangedRow[]): void {
    const database = this.#databases.get(name)
    if (database) {
      for (const row of rows) if (this.#unstored.has(rowId(row))) this.#skipped.set(rowId(row), row)
      database.apply(rows.filter((row) => !this.#unstored.has(rowId(row))))
      return
    }
    const waiting = this.#waiting.get(name) ?? new Map<string, SharedRow>()
    this.#waiting.set(name, waiting)
    for (const row of rows) {
      // Later changes come last.
      waiting.delete(rowId(row))
      if (row.row !== null) waiting.set(rowId(row), row)
    }
  }

  async #listen(): Promise<void> {
    const { signal } = this.#leaving
    while (!signal.aborted) {
      const client = new pg.Client({
        connectionString: this.#url,
        connectionTimeoutMillis: 3_000,
        query_timeout: 10_000,
        keepAlive: true,
      })
      try {
        let lost: Error | undefined
        client.on('error', (error) => {
          lost = error
        })
        client.on('notification', ({ channel }) => {
          if (channel === 'devdeck_changes') this.catchUp().catch(() => undefined)
        })
        await client.connect()
        // A console that hangs or whose machine is lost keeps its connection, and with it the lock. PostgreSQL 13 lacks this.
        await client.query(
          `SELECT set_config(name, '${silentLeaderMs}', false) FROM pg_settings WHERE name = 'idle_session_timeout'`,
        )
        await client.query('LISTEN devdeck_changes')
        await this.catchUp()
        await this.stored()
        let holdsLock = false
        while (!signal.aborted) {
          if (lost) throw lost
          if (!holdsLock) holdsLock = await this.#tryToLead(client)
          else await client.query('SELECT 1')
          await delay(leaderCheckMs, undefined, { signal }).catch(() => undefined)
        }
      } catch (error) {
        this.#failed(error as Error)
        await delay(reconnectMs, undefined, { signal }).catch(() => undefined)
      } finally {
        // Also gives up the lock.
        await client.end().catch(() => undefined)
      }
    }
  }

  /** The lock belongs to the connection, so it passes on as soon as a console dies. */
  async #tryToLead(client: pg.Client): Promise<boolean> {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS locked', [leading])
    if (rows[0]?.locked === true) {
      await client.query(
        'INSERT INTO devdeck_leader VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET url = excluded.url',
        [this.#ownUrl],
      )
      await this.catchUp()
      if (this.#leaving.signal.aborted) return true
      if (!this.leads) {
        this.leads = true
        logInfo('This console leads now: it holds alerts and terminals')
        this.#events?.onLead()
      }
      return true
    }
    const { rows: leader } = await client.query('SELECT url FROM devdeck_leader')
    this.#leaderUrl = leader[0] && String(leader[0].url)
    if (this.leads) {
      this.leads = false
      logInfo('Another console leads now')
      this.#events?.onStepDown()
    }
    return false
  }

  #failed(error: Error): void {
    if (this.#closing.signal.aborted) return
    if (this.problem === undefined) logError(`The shared store failed: ${error.message}`)
    this.problem = error.message || 'the connection was lost'
    this.#retryLater()
  }

  /** Until it works again, pages change nothing, so nothing else would be written. */
  #retryLater(): void {
    if (this.#isRetrying) return
    this.#isRetrying = true
    const retry = async () => {
      await delay(reconnectMs, undefined, { signal: this.#closing.signal })
      if (this.#unstored.size > 0) await this.#flush()
      else await this.catchUp()
    }
    retry().then(
      () => {
        this.#isRetrying = false
      },
      (error: Error) => {
        this.#isRetrying = false
        this.#failed(error)
      },
    )
  }

  #worked(): void {
    if (this.problem !== undefined) logInfo('The shared store is available again')
    this.problem = undefined
  }
}

const leaderCheckMs = 250
/** PostgreSQL ends a connection that sends no check for this long. */
const silentLeaderMs = 5_000
const reconnectMs = 500

interface ChangedRow extends SharedRow {
  /** A number that increases with each change. */
  change: string
}

const rowId = ({ store, tbl, key }: Omit<SharedRow, 'row'>): string => `${store} ${tbl} ${key}`
