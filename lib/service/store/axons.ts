import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Axon, AxonCreate, AxonListQuery } from '#lib/contract/axons.ts'
import type { StringMap } from '#lib/contract/common.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { AxonCounts, keyOf } from './axon-counts.ts'
import {
  type Bounds,
  checksStatement,
  conditionsOf,
  countStatement,
  everyAxon,
  isShortSearch,
  type Owner,
  pageStatement,
  probeStatement,
  type Statement,
  type Walk,
} from './axon-filter.ts'
import { type Database, inTransaction } from './database.ts'
import { addSearchFunctions } from './search-text.ts'
import { inOneGo, StepSize, type Steps, Turns } from './steps.ts'

interface AxonRow {
  id: string
  name: string | null
  created_at_ms: number
  deleted_at_ms: number | null
  metadata: string
}

interface Lines {
  lines: Buffer
  hasMore: boolean
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
  const turns = new Turns()
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
        const size = exact ? total(probeStatement({ source: exact, checks: [] }, probeLimit)) : probeLimit
        return condition.sources.map((source) => ({
          source,
          checks: conditions.filter((other) => other !== condition || source.isRough),
          size,
        }))
      })
      .sort((a, b) => a.size - b.size)
    const everything = { source: everyAxon(owner), checks: conditions }
    // Where many axons have one of many values, walking along all axons soon meets them.
    const page = walks.find(({ source, size }) => !source.isUnordered || size < maxSorted) ?? everything
    // A condition alone is counted on its index, in whatever order.
    const alone = conditions.length === 1 ? walks.find(({ source }) => !source.isRough) : undefined
    return { page, count: alone ?? page }
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

  const changed = (account: string, seq: number, after: Axon, before?: Axon) => {
    counts.change(account, seq, after, before)
    if (--changesUntilReplan > 0) return
    plans.clear()
    changesUntilReplan = replanAfter
  }

  /** After all places the account's axons have. */
  const topOf = (account: string): number =>
    ((prepare('SELECT max(seq) AS last FROM axons WHERE account = ?').get(account) as { last: number | null }).last ??
      0) + 1

  function* countInSteps(account: string, query: AxonListQuery, walk: Walk): Steps<number> {
    // What a short search reaches moves with each new axon.
    if (isShortSearch(query)) return total(countStatement(walk))
    if (walk.source.isSearch) return yield* countSearchInSteps(account, query, walk)
    const count = counts.begin(account, query, topOf(account))
    if (walk.source.isUnordered) {
      if (count.from > 0) Object.assign(count, { total: total(countStatement(walk)), from: 0 })
      return count.total
    }
    const size = new StepSize(walk.checks.length > 0 ? maxChecked : maxCounted)
    while (count.from > 0) {
      const from = Math.max(0, count.from - size.begin())
      count.total += total(countStatement(walk, { from, before: count.from }))
      count.from = from
      size.end()
      if (from > 0) yield
    }
    return count.total
  }

  /** On a connection of its own, where one statement goes on from step to step and sees what was there at the first. */
  function* countSearchInSteps(account: string, query: AxonListQuery, walk: Walk): Steps<number> {
    const reader = new DatabaseSync(database.location() ?? '', { readOnly: true, timeout: 5_000 })
    const count = counts.beginSnapshot(account, query)
    try {
      addSearchFunctions(reader)
      const { sql, values } = checksStatement(walk)
      const statement = reader.prepare(sql)
      statement.setReturnArrays(true)
      const size = new StepSize(maxChecked)
      let left = size.begin()
      for (const [isMatch] of statement.iterate(...values) as Iterable<unknown> as Iterable<unknown[]>) {
        count.total += Number(isMatch)
        if (--left > 0) continue
        size.end()
        yield
        left = size.begin()
      }
      count.finish()
      return count.total
    } finally {
      count.drop()
      reader.close()
    }
  }

  /** Unspecified: a page larger than 64 MiB. It ends early, and says that there are more. */
  function* pageInSteps(
    walk: Walk,
    account: string,
    query: AxonListQuery,
    start: number | undefined,
    atMost: number,
  ): Steps<Lines> {
    // What meets every condition as it comes needs no steps, nor do the few that are sorted or that a short search reaches.
    const { isUnordered, isSearch } = walk.source
    const isShort = walk.checks.length === 0 || isUnordered || isSearch || isShortSearch(query)
    const { limit } = query
    const size = new StepSize(maxChecked)
    const pages: Buffer[] = []
    let [count, bytes, before, most] = [0, 0, start ?? (isShort ? 1 : topOf(account)), limit]
    while (before > 0) {
      const from = isShort ? 0 : Math.max(0, before - size.begin())
      // Unasked for bounds would keep SQLite from what it does best.
      const bounds = isShort ? { before: start } : { from, before }
      const page = readLines(walk, bounds, Math.min(most + 1, atMost) - count)
      if (page.count > 0) pages.push(page.lines)
      count += page.count
      bytes += page.lines.length
      before = from
      size.end()
      if (page.isCut) return { lines: joined(pages), hasMore: true }
      if (bytes >= maxPageBytes) most = Math.min(most, count)
      if (count >= Math.min(most + 1, atMost)) break
      if (before > 0) yield
    }
    const lines = joined(pages)
    return count > most
      ? { lines: lines.subarray(0, lines.lastIndexOf(newline) - 1), hasMore: true }
      : { lines, hasMore: false }
  }

  /** So many lines, or the first of them when they are too large together. */
  const readLines = (walk: Walk, bounds: Bounds, most: number): { lines: Buffer; count: number; isCut: boolean } => {
    const { limits } = database
    const length = limits.length
    try {
      limits.length = maxPageBytes
      for (let some = most; ; some = Math.ceil(some / 2))
        try {
          const { sql, values } = linesOf(pageStatement(walk, bounds, some))
          const { total, lines } = prepare(sql).get(...values) as { total: number; lines: Uint8Array | null }
          const { buffer, byteOffset, byteLength } = lines ?? new Uint8Array()
          return { lines: Buffer.from(buffer, byteOffset, byteLength), count: total, isCut: some < most }
        } catch (error) {
          if ((error as { errcode?: number }).errcode !== sqliteTooBig || some === 1) throw error
        }
    } finally {
      limits.length = length
    }
  }

  /** The database writes the JSON, since the metadata is JSON there. */
  function* listInSteps(account: string, query: AxonListQuery, before?: number): Steps<Uint8Array> {
    const owner = ownerOf(account)
    const plan = owner && planOf(owner, query)
    let known = plan ? counts.peek(account, query) : 0
    if (plan && known === undefined && query.include_total_count)
      known = yield* countInSteps(account, query, plan.count)
    const totalCount = query.include_total_count ? known : null
    if (!plan || known === 0)
      return Buffer.from(JSON.stringify({ axons: [], has_more: false, total_count: totalCount }))
    // Knowing that there are no more saves walking on in search of one.
    const atMost = before === undefined ? (known ?? Infinity) : Infinity
    const { lines, hasMore } = yield* pageInSteps(plan.page, account, query, before, atMost)
    return Buffer.concat([
      Buffer.from('{"axons":['),
      lines,
      Buffer.from(`],"has_more":${hasMore},"total_count":${totalCount}}`),
    ])
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

    /** The JSON of an AxonList: newest first, deleted ones included; `before` is the position of the last already seen. */
    list: (account: string, query: AxonListQuery, before?: number): Uint8Array =>
      inOneGo(listInSteps(account, query, before)),

    /** The same; what takes long takes turns with everything else that the service does. */
    listInTurns: (account: string, query: AxonListQuery, before?: number): Uint8Array | Promise<Uint8Array> =>
      turns.run(listInSteps(account, query, before)),

    /** What `list` runs, for a look at the plans of SQLite. */
    statementsOf: (account: string, query: AxonListQuery, before?: number): Statement[] => {
      const owner = ownerOf(account)
      if (!owner) return []
      const { page, count } = planOf(owner, query)
      const bounds = { from: 0, before: before ?? topOf(account) }
      const isWhole = page.source.isUnordered || page.source.isSearch
      const lines = linesOf(pageStatement(page, isWhole ? { before } : bounds, query.limit + 1))
      const probes = conditionsOf(owner, query)
        .flatMap(({ sources }) => sources.slice(0, 1))
        .map((source) => probeStatement({ source, checks: [] }, probeLimit))
      if (count.source.isSearch) return [lines, checksStatement(count), ...probes]
      return [lines, countStatement(count, count.source.isUnordered ? {} : bounds), ...probes]
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
      const seq = inTransaction(database, () => {
        const place = insert(account, axon)
        writeMetadata(account, place, axon.metadata)
        return place
      })
      changed(account, seq, axon)
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
      changed(account, seq, after, before)
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
/** How many places one step looks at, at most, with and without more to check of each. */
const maxChecked = 16_384
const maxCounted = 65_536
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

const joined = (pages: Buffer[]): Buffer =>
  pages.length === 1 && pages[0]
    ? pages[0]
    : Buffer.concat(pages.flatMap((page, i) => (i === 0 ? [page] : [separator, page])))
const separator = Buffer.from(',\n')
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
