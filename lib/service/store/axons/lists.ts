import type { DatabaseSync } from 'node:sqlite'
import type { AxonListQuery } from '#lib/contract/axons.ts'
import { type Clause, maxPageBytes } from '../clauses.ts'
import {
  type AxonFilter,
  allAxons,
  conditionsOf,
  countStatement,
  pageStatement,
  probeStatement,
  type Walk,
} from './filter.ts'
import { addSearchFunctions } from './search-text.ts'

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

/** Matches counted at most to find the rarest condition, and sorted at most for a page. */
const probeLimit = 10_000
const maxCachedFilters = 1_000

/**
 * Lists and counts axons. Runs in a separate process because a count reads a whole index range, up to a second for a million
 * axons. Counts are cached until the account's axons change.
 */
export const createAxonLists = (database: DatabaseSync) => {
  addSearchFunctions(database)
  const owner = database.prepare('SELECT account, number FROM axon_accounts WHERE account = ?')
  const cache = new Map<string, CachedFilter>()

  const total = ({ sql, values }: Clause) => (database.prepare(sql).get(...values) as { total: number }).total

  const walksOf = (account: string, filter: AxonFilter): CachedFilter['walks'] | undefined => {
    const found = owner.get(account) as { account: string; number: number } | undefined
    if (!found) return undefined
    const conditions = conditionsOf(found, filter)
    const all = { source: allAxons(found), checks: conditions }
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

  const findCached = (request: AxonListRequest): CachedFilter | undefined => {
    const { account, query, version } = request
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
      const statement = database.prepare(sql)
      statement.setReturnArrays(true)
      for (const [line] of statement.iterate(...values) as Iterable<unknown> as Iterable<[string]>) {
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

/** Finds the page in the indexes alone and reads only its rows, as JSON lines. */
export const linesOf = ({ sql, values }: Clause): Clause => ({
  sql: `
    SELECT '{"id":"' || id || '","name":' || json_quote(name) || ',"created_at_ms":' || created_at_ms
      || ',"deleted_at_ms":' || coalesce(deleted_at_ms, 'null') || ',"metadata":' || metadata || '}' AS line
    FROM (${sql}) AS page CROSS JOIN axons USING (seq)`,
  values,
})
