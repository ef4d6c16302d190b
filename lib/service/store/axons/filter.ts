import type { AxonListQuery } from '#lib/contract/axons.ts'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'
import { type Clause, metadataClause, sqlOf, valuesOf } from '../clauses.ts'
import { containsMatch, isIndexed, searchText } from './search-text.ts'

export interface Owner {
  account: string
  number: number
}

export type AxonFilter = Pick<AxonListQuery, 'id' | 'name' | 'search' | 'metadata'>

export interface Condition {
  source: Source
  check: (seq: string) => Clause
  readsAxon: boolean
}

/** An index range whose entries are exactly the matches of a condition. */
export interface Source {
  from: string
  seq: string
  where: Clause
  /** Whether the range is in list order and needs no sort. */
  isOrdered: boolean
}

export interface Walk {
  source: Source
  checks: Condition[]
}

/**
 * Unspecified: a search for fewer than three characters covers only this many of the newest axons. Nearly every id contains
 * them, and indexing them would take more space than the axons.
 */
export const shortSearchLimit = 10_000

/** Most expensive first, because ties make the first one the source. */
export const conditionsOf = (owner: Owner, { id, name, search, metadata = [] }: AxonFilter): Condition[] => [
  ...(id === undefined ? [] : [idCondition(owner, id)]),
  ...(search === undefined ? [] : [searchCondition(owner, search)]),
  ...metadata.map((condition) => metadataCondition(owner, condition)),
  ...(name === undefined ? [] : [prefixCondition(owner, name)]),
]

const axonsBy = (index: string, where: Clause, isOrdered = true): Source => ({
  // Otherwise SQLite might walk the seq column instead.
  from: `axons INDEXED BY ${index}`,
  seq: 'axons.seq',
  where,
  isOrdered,
})

export const allAxons = ({ account }: Owner): Source =>
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
  const newest = `SELECT seq FROM axons WHERE account = ? ORDER BY seq DESC LIMIT ${shortSearchLimit}`
  const reached = (seq: string): Clause => ({
    sql: `${seq} >= (SELECT min(seq) FROM (${newest})) AND ${check.sql}`,
    values: [owner.account, ...check.values],
  })
  const all = allAxons(owner)
  const within = [all.where, reached(all.seq)]
  return {
    source: { ...all, where: { sql: sqlOf(within), values: valuesOf(within) } },
    check: reached,
    readsAxon: true,
  }
}

/** A range instead of LIKE: case-sensitive, without wildcards, and indexed. */
const prefixClause = (prefix: string): Clause => {
  const end = prefixEnd(prefix)
  return end === undefined
    ? { sql: 'axons.name >= ?', values: [prefix] }
    : { sql: 'axons.name >= ? AND axons.name < ?', values: [prefix, end] }
}

/** The smallest string greater than all that start with `prefix`, if any. */
const prefixEnd = (prefix: string): string | undefined => {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue
    // Skips the surrogates, which are not characters.
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return undefined
}

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

export const probeStatement = (source: Source, limit: number): Clause => {
  const { sql, values } = select({ source, checks: [] }, '1', [])
  return { sql: `SELECT count(*) AS total FROM (${sql} LIMIT ?)`, values: [...values, limit] }
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
