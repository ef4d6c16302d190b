import type { Axon, AxonListQuery } from '#lib/contract/axons.ts'
import type { MetadataCondition } from '#lib/contract/query-string.ts'
import { type Clause, metadataClause, sqlOf, type Value, valuesOf } from './clauses.ts'
import { containsMatch, isIndexed, prefixMatch, searchText } from './search-text.ts'

/** Whose axons: the number stands for the account in the search index. */
export interface Owner {
  account: string
  number: number
}

export type AxonFilter = Pick<AxonListQuery, 'id' | 'name' | 'search' | 'metadata'>

/** One condition of a list: where the matches can be walked along, and how to check it while another one is walked. */
export interface Condition {
  /** The exact ones first. */
  sources: Source[]
  check: (seq: string) => Clause
  /** Whether the check reads the axon itself. */
  readsAxon: boolean
}

export interface Source {
  from: string
  /** The column of `from` that is the axon's place in the list. */
  seq: string
  /** Ranges of an index, each in the order of the list, none with an axon in common: SQLite merges them. */
  ranges: Clause[]
  /** Its ranges hold more than the matches: the check has to pick them. */
  isRough?: boolean
  /** Not in the order of the list: the matches have to be sorted, which is for few. */
  isUnordered?: boolean
  /** The index of `from` to walk, where SQLite might take the places for a shorter way. */
  index?: string
  /** Of the search index, which reads all up to a place to go on from there. */
  isSearch?: boolean
}

/** A statement and what it binds. */
export interface Statement {
  sql: string
  values: Value[]
}

/** More ranges are not merged but sorted. SQLite takes 500. */
const maxRanges = 64
/** To look for more values one by one costs more than to read the axon's own. */
const maxSought = 8

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

export const isShortSearch = ({ search }: AxonFilter) => search !== undefined && !isIndexed(search)

/** Every axon of the account. */
export const everyAxon = ({ account }: Owner): Source => ({
  ...fromAxons,
  index: 'axons_by_account',
  ranges: [{ sql: 'axons.account = ?', values: [account] }],
})

const fromAxons = { from: 'axons', seq: 'axons.seq' }
const fromSearch = { from: 'axon_search', seq: 'axon_search.rowid', isSearch: true }

const idCondition = ({ account }: Owner, id: string): Condition => ({
  sources: [{ ...fromAxons, ranges: [{ sql: 'axons.id = ? AND axons.account = ?', values: [id, account] }] }],
  check: () => ({ sql: '+axons.id = ?', values: [id] }),
  readsAxon: true,
})

const metadataCondition = ({ account }: Owner, condition: MetadataCondition): Condition => {
  const values = condition.op === 'eq' ? [condition.value] : condition.values
  const range = (list: string, some: string[]): Clause => ({
    sql: `m.account = ? AND m.key = ? AND m.value ${list}`,
    values: [account, condition.key, ...some],
  })
  const source = { from: 'axon_metadata AS m', seq: 'm.seq' }
  return {
    sources: [
      values.length <= maxRanges
        ? { ...source, ranges: values.map((value) => range('= ?', [value])) }
        : { ...source, ranges: [range(`IN (${values.map(() => '?').join(', ')})`, values)], isUnordered: true },
    ],
    check: (seq) =>
      values.length > maxSought
        ? {
            sql: `metadata_value(axons.metadata, ?) IN (${values.map(() => '?').join(', ')})`,
            values: [condition.key, ...values],
          }
        : metadataClause('axon_metadata', account, condition, seq),
    readsAxon: values.length > maxSought,
  }
}

const prefixCondition = ({ account, number }: Owner, prefix: string): Condition => {
  const length = Math.min([...prefix].length, 2)
  // The literal length is what the index is on.
  const { sql, values } = prefixClause(prefix)
  const byName = { sql: `axons.account = ? AND ${sql}`, values: [account, ...values] }
  const sameStart = `axons.account = ? AND substr(axons.name, 1, ${length}) = substr(?, 1, ${length})`
  return {
    sources: [
      { ...fromAxons, index: 'axons_by_name', ranges: [byName], isUnordered: true },
      isIndexed(prefix)
        ? {
            ...fromSearch,
            ranges: [{ sql: 'axon_search MATCH ?', values: [prefixMatch(number, prefix)] }],
            isRough: true,
          }
        : {
            ...fromAxons,
            index: length === 1 ? 'axons_by_first_letter' : 'axons_by_first_letters',
            ranges: [{ sql: sameStart, values: [account, prefix] }],
            isRough: true,
          },
    ],
    // The plus keeps SQLite from walking the index of names here, whose order is not the list's.
    check: () => ({ sql: sql.replaceAll('axons.name', '+axons.name'), values }),
    readsAxon: true,
  }
}

const searchCondition = (owner: Owner, text: string): Condition => {
  const folded = searchText(text)
  const check = { sql: 'has_search_text(axons.id, axons.name, ?)', values: [folded] }
  if (isIndexed(text))
    return {
      sources: [
        { ...fromSearch, ranges: [{ sql: 'axon_search MATCH ?', values: [containsMatch(owner.number, text)] }] },
      ],
      check: () => check,
      readsAxon: true,
    }
  const newest = `SELECT seq FROM axons WHERE account = ? ORDER BY seq DESC LIMIT ${shortSearchReach}`
  return {
    sources: [{ ...everyAxon(owner), isRough: true }],
    check: (seq) => ({
      sql: `${seq} >= (SELECT min(seq) FROM (${newest})) AND ${check.sql}`,
      values: [owner.account, ...check.values],
    }),
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

/** A source and what has to be checked along it. */
export interface Walk {
  source: Source
  checks: Condition[]
}

/** Places from `from` on and before `before`. */
export interface Bounds {
  from?: number | undefined
  before?: number | undefined
}

/** The places of one page, newest first. */
export const pageStatement = (walk: Walk, bounds: Bounds, limit: number): Statement => {
  const { seq } = walk.source
  const ranges = selects(walk, `${seq} AS seq`, boundsOf(seq, bounds))
  return {
    sql: `${ranges.map(({ sql }) => sql).join(' UNION ALL ')} ORDER BY ${ranges.length > 1 ? 'seq' : seq} DESC LIMIT ?`,
    values: [...valuesOf(ranges), limit],
  }
}

/** How many there are. */
export const countStatement = (walk: Walk, bounds: Bounds = {}): Statement =>
  sumOf(selects(walk, 'count(*) AS total', boundsOf(walk.source.seq, bounds)))

/** How many there are, in each range `atMost`. */
export const probeStatement = (walk: Walk, atMost: number): Statement =>
  sumOf(
    selects(walk, '1', []).map(({ sql, values }) => ({
      sql: `SELECT count(*) AS total FROM (${sql} LIMIT ${atMost})`,
      values,
    })),
  )

const sumOf = (ranges: Clause[]): Statement => ({
  sql: `SELECT ${ranges.map(({ sql }) => `(${sql})`).join(' + ')} AS total`,
  values: valuesOf(ranges),
})

const boundsOf = (seq: string, { from, before }: Bounds): Clause[] => [
  ...(from === undefined ? [] : [{ sql: `${seq} >= ?`, values: [from] }]),
  ...(before === undefined ? [] : [{ sql: `${seq} < ?`, values: [before] }]),
]

const selects = (walk: Walk, columns: string, more: readonly Clause[]): Clause[] => {
  const { source, checks } = walk
  return source.ranges.map((range) => {
    const where = [range, ...more, ...checks.map(({ check }) => check(source.seq))]
    return { sql: `SELECT ${columns} FROM ${fromOf(walk)} WHERE ${sqlOf(where)}`, values: valuesOf(where) }
  })
}

/** Of every place along the way, whether it meets the rest, too. */
export const checksStatement = (walk: Walk): Statement => {
  const { source, checks } = walk
  const rest = checks.map(({ check }) => check(source.seq))
  const ranges = source.ranges.map(({ sql, values }) => ({
    sql: `SELECT ${rest.length > 0 ? sqlOf(rest) : '1'} AS isMatch FROM ${fromOf(walk)} WHERE ${sql}`,
    values: [...valuesOf(rest), ...values],
  }))
  return { sql: ranges.map(({ sql }) => sql).join(' UNION ALL '), values: valuesOf(ranges) }
}

const fromOf = ({ source: { from, seq, index }, checks }: Walk): string => {
  const join =
    from !== 'axons' && checks.some(({ readsAxon }) => readsAxon) ? ` CROSS JOIN axons ON axons.seq = ${seq}` : ''
  return `${from}${index === undefined ? '' : ` INDEXED BY ${index}`}${join}`
}

/** The same decision about an axon at hand. */
export const matches = ({ id, name, metadata }: Axon, filter: AxonFilter): boolean => {
  if (filter.id !== undefined && filter.id !== id) return false
  if (filter.name !== undefined && !name?.startsWith(filter.name)) return false
  if (filter.search !== undefined) {
    const folded = searchText(filter.search)
    if (!searchText(id).includes(folded) && !searchText(name ?? '').includes(folded)) return false
  }
  return (filter.metadata ?? []).every((condition) => {
    const value = Object.hasOwn(metadata, condition.key) ? metadata[condition.key] : undefined
    if (value === undefined) return false
    return condition.op === 'eq' ? condition.value === value : condition.values.includes(value)
  })
}
