import type { StatementSync } from 'node:sqlite'
import type { Axon, AxonCreate, AxonList, AxonListQuery } from '#lib/contract/axons.ts'
import type { MetadataCondition } from '#lib/contract/query-string.ts'
import { newId } from '#lib/service/ids.ts'
import { type Clause, containsClause, metadataClause, sqlOf, type Value, valuesOf } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'

interface AxonRow {
  id: string
  name: string | null
  created_at_ms: number
  deleted_at_ms: number | null
  metadata: string
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
  // Counting every match is the dearest part of a list. Nothing but `create` adds to it and no one else writes here.
  const counts = new Map<string, number>()

  const count = (sql: string, values: readonly Value[]): number => {
    const key = JSON.stringify([sql, values])
    const known = counts.get(key)
    if (known !== undefined) return known
    const { total } = prepare(sql).get(...values) as { total: number }
    if (counts.size >= maxCounts) counts.clear()
    counts.set(key, total)
    return total
  }

  /** The conditions by how many axons meet each, fewest first. */
  const candidates = (account: string, conditions: readonly MetadataCondition[]) =>
    conditions
      .map((condition) => {
        const { sql, values } = leadClause(account, condition)
        const probe = `SELECT count(*) AS matches FROM (SELECT 1 FROM axon_metadata AS m WHERE ${sql} LIMIT ${probeLimit})`
        return { condition, ...(prepare(probe).get(...values) as { matches: number }) }
      })
      .sort((a, b) => a.matches - b.matches)

  return {
    /** The place of an axon in its account's order, for `list` to go on from; undefined when there is no such axon. */
    position: (account: string, id: string): number | undefined =>
      (prepare('SELECT seq FROM axons WHERE id = ? AND account = ?').get(id, account) as { seq: number } | undefined)
        ?.seq,

    /** Newest first, deleted ones included; `before` is the position of the last axon already seen. */
    list: (account: string, query: AxonListQuery, before?: number): AxonList => {
      const leads = candidates(account, query.metadata ?? [])
      // A list of values has to be sorted first, so it leads only when it is short: when it is long, walking along the
      // axons meets enough matches soon.
      const lead = leads.find(({ condition, matches }) => condition.op === 'eq' || matches < probeLimit)
      const { from, seq, where } = filter(account, query, lead?.condition)
      const page = before === undefined ? where : [...where, { sql: `${seq} < ?`, values: [before] }]
      // The page is found on the indexes alone; only its own rows are then read.
      const rows = prepare(
        `WITH page AS MATERIALIZED (SELECT ${seq} AS seq FROM ${from} WHERE ${sqlOf(page)} ORDER BY ${seq} DESC LIMIT ?)
         SELECT id, name, created_at_ms, deleted_at_ms, metadata FROM page CROSS JOIN axons USING (seq) ORDER BY seq DESC`,
      ).all(...valuesOf(page), query.limit + 1) as unknown as AxonRow[]
      const all = filter(account, query, leads[0]?.condition)
      return {
        axons: rows.slice(0, query.limit).map(toAxon),
        has_more: rows.length > query.limit,
        total_count: query.include_total_count
          ? count(`SELECT count(*) AS total FROM ${all.from} WHERE ${sqlOf(all.where)}`, valuesOf(all.where))
          : null,
      }
    },

    get: (account: string, id: string): Axon | undefined => {
      const row = prepare(
        'SELECT id, name, created_at_ms, deleted_at_ms, metadata FROM axons WHERE id = ? AND account = ?',
      ).get(id, account) as AxonRow | undefined
      return row && toAxon(row)
    },

    create: (account: string, { name, metadata }: AxonCreate, now: number): Axon => {
      const axon = {
        id: newId('axn'),
        name: name ?? null,
        created_at_ms: now,
        deleted_at_ms: null,
        metadata: metadata ?? {},
      }
      inTransaction(database, () => {
        const { lastInsertRowid: seq } = prepare(
          'INSERT INTO axons (id, account, name, created_at_ms, metadata) VALUES (?, ?, ?, ?, ?)',
        ).run(axon.id, account, axon.name, now, JSON.stringify(axon.metadata))
        const insert = prepare('INSERT INTO axon_metadata (account, key, value, seq) VALUES (?, ?, ?, ?)')
        for (const [key, value] of Object.entries(axon.metadata)) insert.run(account, key, value, seq)
      })
      counts.clear()
      return axon
    },

    /** Marks the axon as deleted; the first deletion's time stays. False when there is no such axon. */
    delete: (account: string, id: string, now: number): boolean =>
      prepare('UPDATE axons SET deleted_at_ms = coalesce(deleted_at_ms, ?) WHERE id = ? AND account = ?').run(
        now,
        id,
        account,
      ).changes > 0,
  }
}

/** How far matches are counted to find the rarest condition. */
const probeLimit = 1000

/** Filters come in any shape a caller likes; these bound what is remembered of them. */
const maxStatements = 200
const maxCounts = 1000

const toAxon = ({ metadata, ...row }: AxonRow): Axon => ({ ...row, metadata: JSON.parse(metadata) })

/**
 * Where to look and what must hold. A metadata condition leads when there is one: its index holds just the matches, in
 * the order of the list. The other conditions are then checked match by match.
 */
const filter = (account: string, query: AxonListQuery, lead: MetadataCondition | undefined) => {
  const seq = lead ? 'm.seq' : 'axons.seq'
  const own = axonClauses(query)
  const rest = (query.metadata ?? [])
    .filter((condition) => condition !== lead)
    .map((condition) => metadataClause('axon_metadata', account, condition, seq))
  if (!lead) return { from: 'axons', seq, where: [{ sql: 'axons.account = ?', values: [account] }, ...own, ...rest] }
  const join = own.length > 0 ? ' CROSS JOIN axons ON axons.seq = m.seq' : ''
  return { from: `axon_metadata AS m${join}`, seq, where: [leadClause(account, lead), ...rest, ...own] }
}

const leadClause = (account: string, condition: MetadataCondition): Clause => {
  const values = condition.op === 'eq' ? [condition.value] : condition.values
  return {
    sql: `m.account = ? AND m.key = ? AND m.value IN (${values.map(() => '?').join(', ')})`,
    values: [account, condition.key, ...values],
  }
}

const axonClauses = ({ id, name, search }: AxonListQuery): Clause[] => {
  const clauses: Clause[] = []
  if (id !== undefined) clauses.push({ sql: 'axons.id = ?', values: [id] })
  if (name !== undefined) {
    // A range, not LIKE: it counts case, knows no wildcards and runs on the index.
    clauses.push({ sql: 'axons.name >= ?', values: [name] })
    const end = prefixEnd(name)
    if (end !== undefined) clauses.push({ sql: 'axons.name < ?', values: [end] })
  }
  if (search !== undefined) clauses.push(containsClause(['axons.id', 'axons.name'], search))
  return clauses
}

/** The least text greater than all that start with `prefix`; undefined when there is none. */
const prefixEnd = (prefix: string): string | undefined => {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue
    // Surrogates are no characters: what follows the last one before them is the first one after.
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return undefined
}
