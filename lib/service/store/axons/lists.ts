import type { DatabaseSync } from 'node:sqlite'
import type { AxonListQuery } from '#lib/contract/axons.ts'
import { allOf, type Clause, clause, maxPageBytes, metadataClause, placeholders, sqlOf, valuesOf } from '../clauses.ts'
import { addSearchFunctions, containsMatch, isIndexed, searchText } from './search-text.ts'

export interface AxonListRequest {
  account: string
  query: AxonListQuery
  before: number | undefined
  version: number
}

interface CachedFilter {
  version: number
  walks: { page: Walk; count: Walk }
  total?: number
}

interface Owner {
  account: string
  number: number
}

type AxonFilter = Pick<AxonListQuery, 'id' | 'name' | 'search' | 'metadata'>

/** An index range whose entries are exactly the matches of a condition. */
interface Source {
  from: string
  seq: string
  where: Clause
  isOrdered: boolean
}

interface Condition {
  source: Source
  check: (seq: string) => Clause
  readsAxon: boolean
}

interface Walk {
  source: Source
  checks: Condition[]
}

/** Matches counted at most to find the rarest condition, and sorted at most for a page. */
const probeLimit = 10_000
const maxCachedFilters = 1_000
/** Unspecified: a search for fewer than three characters, which nearly every id contains, covers this many newest axons. */
export const shortSearchLimit = 10_000

/** In a separate process because a count takes up to a second for a million axons. Counts are cached until a change. */
export const createAxonLists = (database: DatabaseSync) => {
  addSearchFunctions(database)
  const owner = database.prepare('SELECT account, number FROM axon_accounts WHERE account = ?')
  const cache = new Map<string, CachedFilter>()

  const total = ({ sql, values }: Clause) => Number(database.prepare(sql).get(...values)?.total)

  const walksOf = (account: string, filter: AxonFilter): CachedFilter['walks'] | undefined => {
    const found = owner.get(account) as Owner | undefined
    if (!found) return undefined
    const conditions = conditionsOf(found, filter)
    const all = { source: allAxons(account), checks: conditions }
    const [rarest] = conditions
      .map((condition) => ({
        source: condition.source,
        checks: conditions.filter((other) => other !== condition),
        size: total(probeStatement(condition.source, probeLimit)),
      }))
      .sort((a, b) => a.size - b.size || Number(b.source.isOrdered) - Number(a.source.isOrdered))
    if (!rarest) return { page: all, count: all }
    // If many axons match, walking all of them soon fills a page.
    return { page: rarest.source.isOrdered || rarest.size < probeLimit ? rarest : all, count: rarest }
  }

  const findCached = ({ account, query, version }: AxonListRequest): CachedFilter | undefined => {
    const { id, name, search, metadata } = query
    const key = JSON.stringify([account, id, name, search, metadata])
    const before = cache.get(key)
    if (before?.version === version) return before
    const walks = walksOf(account, query)
    if (!walks) return undefined
    if (cache.size >= maxCachedFilters) cache.clear()
    const after = { version, walks }
    cache.set(key, after)
    return after
  }

  const list = (request: AxonListRequest): Buffer => {
    const { query, before } = request
    const found = findCached(request)
    if (found && query.include_total_count) found.total ??= total(countStatement(found.walks.count))
    const count = found ? found.total : 0
    const lines: string[] = []
    let hasMore = false
    if (found && count !== 0) {
      let bytes = 0
      const { sql, values } = linesOf(pageStatement(found.walks.page, before, query.limit + 1))
      for (const { line } of database.prepare(sql).iterate(...values) as Iterable<{ line: string }>) {
        bytes += Buffer.byteLength(line)
        hasMore = lines.length === query.limit || (lines.length > 0 && bytes > maxPageBytes)
        if (hasMore) break
        lines.push(line)
      }
    }
    const totalCount = query.include_total_count ? count : null
    return Buffer.from(`{"axons":[${lines.join(',')}],"has_more":${hasMore},"total_count":${totalCount}}`)
  }

  return { list, walksOf }
}

/** Most expensive first, because ties make the first one the source. */
export const conditionsOf = (owner: Owner, { id, name, search, metadata = [] }: AxonFilter): Condition[] => [
  ...(id === undefined ? [] : [idCondition(owner.account, id)]),
  ...(search === undefined ? [] : [searchCondition(owner, search)]),
  ...metadata.map((condition) => metadataCondition(owner.account, condition)),
  ...(name === undefined ? [] : [prefixCondition(owner.account, name)]),
]

// Without INDEXED BY, SQLite might walk the seq column.
const axonsBy = (index: string, where: Clause, isOrdered = true): Source => ({
  from: `axons INDEXED BY ${index}`,
  seq: 'axons.seq',
  where,
  isOrdered,
})

const allAxons = (account: string): Source => axonsBy('axons_by_account', clause('axons.account = ?', account))

const idCondition = (account: string, id: string): Condition => {
  const where = clause('axons.id = ? AND axons.account = ?', id, account)
  return {
    source: { from: 'axons', seq: 'axons.seq', where, isOrdered: true },
    check: () => clause('+axons.id = ?', id),
    readsAxon: true,
  }
}

const metadataCondition = (account: string, condition: NonNullable<AxonFilter['metadata']>[number]): Condition => {
  const values = condition.op === 'eq' ? [condition.value] : condition.values
  const where = `m.account = ? AND m.key = ? AND m.value IN (${placeholders(values)})`
  return {
    source: {
      from: 'axon_metadata AS m',
      seq: 'm.seq',
      where: clause(where, account, condition.key, ...values),
      isOrdered: values.length === 1,
    },
    check: (seq) => metadataClause('axon_metadata', account, condition, seq),
    readsAxon: false,
  }
}

/** A range instead of LIKE: case-sensitive, without wildcards, and indexed. U+10FFFF is not a character. */
const prefixCondition = (account: string, prefix: string): Condition => {
  const range = ['axons.name >= ? AND axons.name < ?', prefix, `${prefix}\u{10ffff}`] as const
  const where = allOf([clause('axons.account = ?', account), clause(...range)])
  return {
    source: axonsBy('axons_by_name', where, false),
    check: () => clause('+axons.name >= ? AND +axons.name < ?', range[1], range[2]),
    readsAxon: true,
  }
}

const searchCondition = ({ account, number }: Owner, text: string): Condition => {
  const check = clause('has_search_text(axons.id, axons.name, ?)', searchText(text))
  if (isIndexed(text)) {
    const where = clause('axon_search MATCH ?', containsMatch(number, text))
    const source = { from: 'axon_search', seq: 'axon_search.rowid', where, isOrdered: true }
    return { source, check: () => check, readsAxon: true }
  }
  const newest = `SELECT seq FROM axons WHERE account = ? ORDER BY seq DESC LIMIT ${shortSearchLimit}`
  const reached = (seq: string) => allOf([clause(`${seq} >= (SELECT min(seq) FROM (${newest}))`, account), check])
  const all = allAxons(account)
  return { source: { ...all, where: allOf([all.where, reached(all.seq)]) }, check: reached, readsAxon: true }
}

export const pageStatement = (walk: Walk, before: number | undefined, limit: number): Clause => {
  const { seq } = walk.source
  const { sql, values } = select(walk, `${seq} AS seq`, before === undefined ? [] : [clause(`${seq} < ?`, before)])
  return clause(`${sql} ORDER BY ${seq} DESC LIMIT ?`, ...values, limit)
}

export const countStatement = (walk: Walk): Clause => select(walk, 'count(*) AS total')

export const probeStatement = (source: Source, limit: number): Clause => {
  const { sql, values } = select({ source, checks: [] }, '1')
  return clause(`SELECT count(*) AS total FROM (${sql} LIMIT ?)`, ...values, limit)
}

const select = ({ source, checks }: Walk, columns: string, more: readonly Clause[] = []): Clause => {
  const { from, seq, where } = source
  const joinsAxons = seq !== 'axons.seq' && checks.some(({ readsAxon }) => readsAxon)
  const all = [where, ...more, ...checks.map(({ check }) => check(seq))]
  const join = joinsAxons ? ` CROSS JOIN axons ON axons.seq = ${seq}` : ''
  return clause(`SELECT ${columns} FROM ${from}${join} WHERE ${sqlOf(all)}`, ...valuesOf(all))
}

/** Finds the page in the indexes alone and reads only its rows, as JSON lines. */
export const linesOf = ({ sql, values }: Clause): Clause => ({
  sql: `
    SELECT '{"id":"' || id || '","name":' || json_quote(name) || ',"created_at_ms":' || created_at_ms
      || ',"deleted_at_ms":' || coalesce(deleted_at_ms, 'null') || ',"metadata":' || metadata || '}' AS line
    FROM (${sql}) AS page CROSS JOIN axons USING (seq)`,
  values,
})
