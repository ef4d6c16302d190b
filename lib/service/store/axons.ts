import type { StatementSync } from 'node:sqlite'
import type { Axon, AxonCreate, AxonListQuery } from '#lib/contract/axons.ts'
import type { StringMap } from '#lib/contract/common.ts'
import { newId } from '#lib/service/ids.ts'
import { AxonCounts, keyOf } from './axon-counts.ts'
import {
  conditionsOf,
  countStatement,
  everyAxon,
  isShortSearch,
  type Owner,
  pageStatement,
  type Statement,
  type Walk,
} from './axon-filter.ts'
import { type Database, inTransaction } from './database.ts'

interface AxonRow {
  id: string
  name: string | null
  created_at_ms: number
  deleted_at_ms: number | null
  metadata: string
}

interface Plan {
  page: Walk
  /** For a count the order does not matter. */
  count: Walk
}

export type AxonStore = ReturnType<typeof createAxonStore>

export const createAxonStore = (database: Database) => {
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known) return known
    if (statements.size >= maxStatements) statements.clear()
    const statement = database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  const counts = new AxonCounts()
  const plans = new Map<string, Plan>()
  let changesUntilReplan = replanAfter
  const owners = new Map<string, Owner>()

  /** Undefined for an account that never had an axon. */
  const ownerOf = (account: string): Owner | undefined => {
    const known = owners.get(account)
    if (known) return known
    const row = prepare('SELECT number FROM axon_accounts WHERE account = ?').get(account) as
      | { number: number }
      | undefined
    if (!row) return undefined
    const owner = { account, number: row.number }
    owners.set(account, owner)
    return owner
  }

  const total = ({ sql, values }: Statement) => (prepare(sql).get(...values) as { total: number }).total

  /** Walks the condition that has the fewest matches and checks the others. */
  const choose = (owner: Owner, query: AxonListQuery): Plan => {
    const conditions = conditionsOf(owner, query)
    const walks = conditions
      .flatMap((condition) => {
        const [exact] = condition.sources.filter(({ isRough }) => !isRough)
        const size = exact ? total(countStatement({ source: exact, checks: [] }, probeLimit)) : probeLimit
        return condition.sources.map((source) => ({
          source,
          checks: conditions.filter((other) => other !== condition || source.isRough),
          size,
        }))
      })
      .sort((a, b) => a.size - b.size)
    const everything = { source: everyAxon(owner), checks: conditions }
    return {
      // Where many axons have one of many values, walking along all axons soon meets them.
      page: walks.find(({ source, size }) => !source.isUnordered || size < maxSorted) ?? everything,
      count: walks.find(({ source }) => !source.isRough) ?? walks[0] ?? everything,
    }
  }

  const planOf = (owner: Owner, query: AxonListQuery): Plan => {
    const key = keyOf(owner.account, query)
    const known = plans.get(key)
    if (known) return known
    const plan = choose(owner, query)
    if (plans.size >= maxPlans) plans.clear()
    plans.set(key, plan)
    return plan
  }

  const changed = (account: string, after: Axon, before?: Axon) => {
    counts.change(account, after, before)
    if (--changesUntilReplan > 0) return
    plans.clear()
    changesUntilReplan = replanAfter
  }

  /** Unspecified: a page larger than 64 MiB. It ends early, and says that there are more. */
  const readPage = (statement: (limit: number) => Statement, limit: number): { lines: Buffer; hasMore: boolean } => {
    const { sql, values } = statement(limit)
    const { limits } = database
    const before = limits.length
    try {
      limits.length = maxPageBytes
      const page = prepare(sql).get(...values) as { total: number; lines: Uint8Array | null }
      const { buffer, byteOffset, byteLength } = page.lines ?? new Uint8Array()
      const lines = Buffer.from(buffer, byteOffset, byteLength)
      const hasMore = page.total > limit
      return { lines: hasMore ? lines.subarray(0, lines.lastIndexOf(newline) - 1) : lines, hasMore }
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== sqliteTooBig || limit === 1) throw error
    } finally {
      limits.length = before
    }
    return readPage(statement, Math.ceil(limit / 2))
  }

  const find = (account: string, id: string): { seq: number; axon: Axon } | undefined => {
    const row = prepare(
      'SELECT seq, id, name, created_at_ms, deleted_at_ms, metadata FROM axons WHERE id = ? AND account = ?',
    ).get(id, account) as (AxonRow & { seq: number }) | undefined
    if (!row) return undefined
    const { seq, ...axon } = row
    return { seq, axon: { ...axon, metadata: JSON.parse(axon.metadata) } }
  }

  const writeMetadata = (account: string, seq: number, metadata: StringMap) => {
    const insert = prepare('INSERT INTO axon_metadata (account, key, value, seq) VALUES (?, ?, ?, ?)')
    for (const [key, value] of Object.entries(metadata)) insert.run(account, key, value, seq)
  }

  /** Writes one axon without its metadata; within a transaction. */
  const insert = (account: string, { id, name, created_at_ms, metadata }: Axon): number => {
    let owner = ownerOf(account)
    if (!owner) {
      const { lastInsertRowid } = prepare('INSERT INTO axon_accounts (account) VALUES (?)').run(account)
      owner = { account, number: Number(lastInsertRowid) }
    }
    const { lastInsertRowid } = prepare(
      'INSERT INTO axons (id, account, name, created_at_ms, metadata) VALUES (?, ?, ?, ?, ?)',
    ).run(id, account, name ?? null, created_at_ms, JSON.stringify(metadata))
    const seq = Number(lastInsertRowid)
    prepare(
      'INSERT INTO axon_search (rowid, account, id, name) VALUES (?, account_tag(?), search_text(?), search_text(?))',
    ).run(seq, owner.number, id, name ?? null)
    return seq
  }

  return {
    /** The place of an axon in its account's order, for `list` to go on from; undefined when there is no such axon. */
    position: (account: string, id: string): number | undefined =>
      (prepare('SELECT seq FROM axons WHERE id = ? AND account = ?').get(id, account) as { seq: number } | undefined)
        ?.seq,

    /**
     * The JSON of an AxonList: newest first, deleted ones included; `before` is the position of the last axon already
     * seen. The database writes it, since the metadata is JSON there.
     */
    list: (account: string, query: AxonListQuery, before?: number): Uint8Array => {
      const owner = ownerOf(account)
      const plan = owner && planOf(owner, query)
      // What a short search reaches moves with each new axon.
      const isCounted = !isShortSearch(query)
      let known = plan ? undefined : 0
      if (plan && isCounted) known = counts.peek(account, query)
      if (plan && known === undefined && query.include_total_count) {
        const count = countStatement(plan.count)
        known = isCounted ? counts.get(account, query, () => total(count)) : total(count)
      }
      const totalCount = query.include_total_count ? known : null
      if (!plan || known === 0)
        return Buffer.from(JSON.stringify({ axons: [], has_more: false, total_count: totalCount }))
      // Knowing that there are no more saves walking on in search of one.
      const atMost = before === undefined ? (known ?? Infinity) : Infinity
      const page = readPage(
        (limit) => linesOf(pageStatement(plan.page, before, Math.min(limit + 1, atMost))),
        query.limit,
      )
      return Buffer.concat([
        Buffer.from('{"axons":['),
        page.lines,
        Buffer.from(`],"has_more":${page.hasMore},"total_count":${totalCount}}`),
      ])
    },

    /** What `list` runs, for a look at the plans of SQLite. */
    statementsOf: (account: string, query: AxonListQuery, before?: number): Statement[] => {
      const owner = ownerOf(account)
      if (!owner) return []
      const { page, count } = planOf(owner, query)
      const lines = linesOf(pageStatement(page, before, query.limit + 1))
      const probes = conditionsOf(owner, query)
        .flatMap(({ sources }) => sources.slice(0, 1))
        .map((source) => countStatement({ source, checks: [] }, probeLimit))
      return [lines, countStatement(count), ...probes]
    },

    get: (account: string, id: string): Axon | undefined => find(account, id)?.axon,

    create: (account: string, { name, metadata }: AxonCreate, now: number): Axon => {
      const axon: Axon = {
        id: newId('axn'),
        name: name ?? null,
        created_at_ms: now,
        deleted_at_ms: null,
        metadata: metadata ?? {},
      }
      inTransaction(database, () => {
        const seq = insert(account, axon)
        writeMetadata(account, seq, axon.metadata)
      })
      changed(account, axon)
      return axon
    },

    /** Many at once, for measurements; not while lists are being answered. */
    createAll: (account: string, axons: readonly Axon[]): void => {
      inTransaction(database, () => {
        const entries = axons.flatMap((axon) => {
          const seq = insert(account, axon)
          return Object.entries(axon.metadata).map(([key, value]) => ({ key, value, seq }))
        })
        // In the order of the index, where each finds its place beside the last.
        entries.sort((a, b) => compare(a.key, b.key) || compare(a.value, b.value) || a.seq - b.seq)
        for (const { key, value, seq } of entries) writeMetadata(account, seq, { [key]: value })
      })
    },

    /** Replaces the metadata whole. Undefined when there is no such axon. */
    update: (account: string, id: string, metadata: StringMap): Axon | undefined => {
      const found = find(account, id)
      if (!found) return undefined
      const { seq, axon: before } = found
      const after = { ...before, metadata }
      inTransaction(database, () => {
        const remove = prepare('DELETE FROM axon_metadata WHERE account = ? AND key = ? AND value = ? AND seq = ?')
        for (const [key, value] of Object.entries(before.metadata)) remove.run(account, key, value, seq)
        prepare('UPDATE axons SET metadata = ? WHERE seq = ?').run(JSON.stringify(metadata), seq)
        writeMetadata(account, seq, metadata)
      })
      changed(account, after, before)
      return after
    },

    /** Marks the axon as deleted; the first deletion's time stays. False when there is no such axon. */
    delete: (account: string, id: string, now: number): boolean =>
      prepare('UPDATE axons SET deleted_at_ms = coalesce(deleted_at_ms, ?) WHERE id = ? AND account = ?').run(
        now,
        id,
        account,
      ).changes > 0,

    /** In the order of their text. Unspecified: at most 10,000, like the values of a key. */
    metadataKeys: (account: string): string[] => texts(prepare(keysSql).all({ account })),

    /** In the order of their text; none for a key nobody has. */
    metadataValues: (account: string, key: string): string[] => texts(prepare(valuesSql).all({ account, key })),
  }
}

/** How far the matches of a condition are counted to find the rarest. */
const probeLimit = 10_000
/** How many names in another order than the list's are sorted rather than looked up in the order of the list. */
const maxSorted = 3_000
/** Sizes change slowly: after so many changes the plans are made anew. */
const replanAfter = 1_000

/** Filters come in any shape a caller likes; these bound what is remembered of them. */
const maxStatements = 200
const maxPlans = 1_000

/**
 * The page is found on the indexes alone; only its own rows are then read, and written as JSON. No JSON text holds a line
 * break, so that the last line can be told from the others.
 */
const linesOf = ({ sql, values }: Statement): Statement => ({
  sql: `
    SELECT count(*) AS total, CAST(group_concat(
      '{"id":"' || id || '","name":' || json_quote(name) || ',"created_at_ms":' || created_at_ms || ',"deleted_at_ms":'
        || coalesce(deleted_at_ms, 'null') || ',"metadata":' || metadata || '}', ',' || char(10)) AS BLOB) AS lines
    FROM (${sql}) AS page CROSS JOIN axons USING (seq)`,
  values,
})

const newline = 10
const maxPageBytes = 64 * 1024 * 1024
const sqliteTooBig = 18

// From one key or value to the next by the index: what many axons share costs no more than what one has.
const nextOf = (column: 'key' | 'value', where: string) => `
  WITH RECURSIVE found (text) AS (
    SELECT min(${column}) FROM axon_metadata WHERE ${where}
    UNION ALL
    SELECT (SELECT min(${column}) FROM axon_metadata WHERE ${where} AND ${column} > found.text)
    FROM found WHERE found.text IS NOT NULL LIMIT 10001
  )
  SELECT text FROM found WHERE text IS NOT NULL LIMIT 10000`
export const keysSql = nextOf('key', 'account = :account')
export const valuesSql = nextOf('value', 'account = :account AND key = :key')

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const texts = (rows: Record<string, unknown>[]) => rows.map(({ text }) => text as string)
