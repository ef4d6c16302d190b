import type { AxonListQuery } from '#lib/contract/axons.ts'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'
import { type Clause, metadataClause, sqlOf, valuesOf } from '../clauses.ts'
import { containsMatch, isIndexed, searchText } from './search-text.ts'

/** Whose axons: the number stands for the account in the search index. */
export interface Owner {
  account: string
  number: number
}

export type AxonFilter = Pick<AxonListQuery, 'id' | 'name' | 'search' | 'metadata'>

/** One condition of a list. */
export interface Condition {
  source: Source
  /** The condition on an axon that was found along the source of another one. */
  check: (seq: string) => Clause
  /** Whether the check reads the axon itself. */
  readsAxon: boolean
}

/** A range of an index: its entries are the matches of a condition, and no others. */
export interface Source {
  from: string
  /** The column of `from` that is the axon's place in the list. */
  seq: string
  where: Clause
  /** Whether the range is in the order of the list; its matches have to be sorted if not. */
  isOrdered: boolean
}

/** A source and what has to be checked along it. */
export interface Walk {
  source: Source
  checks: Condition[]
}

/**
 * Unspecified: a search for less than three characters. Nearly every id holds them, and an index of them would be larger
 * than the axons: it looks at this many axons, the account's newest.
 */
export const shortSearchReach = 10_000

/** Those that are dearest to check first: among equals the first is walked. */
export const conditionsOf = (owner: Owner, { id, name, search, metadata = [] }: AxonFilter): Condition[] => [
  ...(id === undefined ? [] : [idCondition(owner, id)]),
  ...(search === undefined ? [] : [searchCondition(owner, search)]),
  ...metadata.map((condition) => metadataCondition(owner, condition)),
  ...(name === undefined ? [] : [prefixCondition(owner, name)]),
]

const axonsBy = (index: string, where: Clause, isOrdered = true): Source => ({
  // SQLite might take the places for a shorter way.
  from: `axons INDEXED BY ${index}`,
  seq: 'axons.seq',
  where,
  isOrdered,
})

/** Every axon of the account. */
export const everyAxon = ({ account }: Owner): Source =>
  axonsBy('axons_by_account', { sql: 'axons.account = ?', values: [account] })

const idCondition = ({ account }: Owner, id: string): Condition => ({
  source: {
    from: 'axons',
    seq: 'axons.seq',
    where: { sql: 'axons.id = ? AND axons.account = ?', values: [id, account] },
    isOrdered: true,
  },
  check: () => ({ sql: '+axons.id = ?', values: [id] }),
  readsAxon: true,
})

const metadataCondition = ({ account }: Owner, condition: MetadataCondition): Condition => {
  const values = condition.op === 'eq' ? [condition.value] : condition.values
  return {
    source: {
      from: 'axon_metadata AS m',
      seq: 'm.seq',
      where: {
        sql: `m.account = ? AND m.key = ? AND m.value IN (${values.map(() => '?').join(', ')})`,
        values: [account, condition.key, ...values],
      },
      isOrdered: values.length === 1,
    },
    check: (seq) => metadataClause('axon_metadata', account, condition, seq),
    readsAxon: false,
  }
}

const prefixCondition = ({ account }: Owner, prefix: string): Condition => {
  const { sql, values } = prefixClause(prefix)
  return {
    source: axonsBy('axons_by_name', { sql: `axons.account = ? AND ${sql}`, values: [account, ...values] }, false),
    check: () => ({ sql: sql.replaceAll('axons.name', '+axons.name'), values }),
    readsAxon: true,
  }
}

const searchCondition = (owner: Owner, text: string): Condition => {
  const check = { sql: 'has_search_text(axons.id, axons.name, ?)', values: [searchText(text)] }
  if (isIndexed(text)) {
    const where = { sql: 'axon_search MATCH ?', values: [containsMatch(owner.number, text)] }
    const source = { from: 'axon_search', seq: 'axon_search.rowid', where, isOrdered: true }
    return { source, check: () => check, readsAxon: true }
  }
  const newest = `SELECT seq FROM axons WHERE account = ? ORDER BY seq DESC LIMIT ${shortSearchReach}`
  const reached = (seq: string): Clause => ({
    sql: `${seq} >= (SELECT min(seq) FROM (${newest})) AND ${check.sql}`,
    values: [owner.account, ...check.values],
  })
  const every = everyAxon(owner)
  const within = [every.where, reached(every.seq)]
  return {
    source: { ...every, where: { sql: sqlOf(within), values: valuesOf(within) } },
    check: reached,
    readsAxon: true,
  }
}

/** The name starts with `prefix`. A range, not LIKE: it counts case, knows no wildcards and runs on the index. */
const prefixClause = (prefix: string): Clause => {
  const end = prefixEnd(prefix)
  return end === undefined
    ? { sql: 'axons.name >= ?', values: [prefix] }
    : { sql: 'axons.name >= ? AND axons.name < ?', values: [prefix, end] }
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

/** The places of one page, newest first; `before` is the place of the last axon already seen. */
export const pageStatement = (walk: Walk, before: number | undefined, limit: number): Clause => {
  const { seq } = walk.source
  const { sql, values } = select(
    walk,
    `${seq} AS seq`,
    before === undefined ? [] : [{ sql: `${seq} < ?`, values: [before] }],
  )
  return { sql: `${sql} ORDER BY ${seq} DESC LIMIT ?`, values: [...values, limit] }
}

export const countStatement = (walk: Walk): Clause => select(walk, 'count(*) AS total', [])

/** How many entries the source has, counted no further than `most`. */
export const probeStatement = (source: Source, most: number): Clause => {
  const { sql, values } = select({ source, checks: [] }, '1', [])
  return { sql: `SELECT count(*) AS total FROM (${sql} LIMIT ?)`, values: [...values, most] }
}

const select = ({ source, checks }: Walk, columns: string, more: readonly Clause[]): Clause => {
  const { from, seq, where } = source
  const joinsAxons = seq !== 'axons.seq' && checks.some(({ readsAxon }) => readsAxon)
  const all = [where, ...more, ...checks.map(({ check }) => check(seq))]
  return {
    sql: `SELECT ${columns} FROM ${from}${joinsAxons ? ` CROSS JOIN axons ON axons.seq = ${seq}` : ''} WHERE ${sqlOf(all)}`,
    values: valuesOf(all),
  }
}
