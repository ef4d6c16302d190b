import type { DatabaseSync } from 'node:sqlite'
import type { AxonListQuery } from '#lib/contract/axons.ts'
import { type Clause, maxPageBytes } from '../clauses.ts'
import {
  type AxonFilter,
  conditionsOf,
  countStatement,
  everyAxon,
  pageStatement,
  probeStatement,
  type Walk,
} from './filter.ts'
import { addSearchFunctions } from './search-text.ts'

export interface AxonListRequest {
  account: string
  query: AxonListQuery
  /** The place of the last axon already seen. */
  before: number | undefined
  /** Another one after each change of the account's axons. */
  version: number
}

interface Known {
  version: number
  walks: { page: Walk; count: Walk }
  total?: number
}

/** How far the matches of a condition are counted to find the rarest. So many at most are sorted for a page. */
const probeLimit = 10_000
/** Filters come in any shape a caller likes; this bounds what is remembered of them. */
const maxKnown = 1_000

/**
 * Lists and counts over the tables of axons. A count reads a whole range of an index, up to a second for a million axons:
 * this runs where nobody else waits for it. What a filter has is remembered until the account's axons change.
 */
export const createAxonLists = (database: DatabaseSync) => {
  addSearchFunctions(database)
  const owner = database.prepare('SELECT account, number FROM axon_accounts WHERE account = ?')
  const known = new Map<string, Known>()

  const total = ({ sql, values }: Clause) => (database.prepare(sql).get(...values) as { total: number }).total

  /** Walks along the condition that has the fewest matches and checks the others. */
  const walksOf = (account: string, filter: AxonFilter): Known['walks'] | undefined => {
    const found = owner.get(account) as { account: string; number: number } | undefined
    if (!found) return undefined
    const conditions = conditionsOf(found, filter)
    const every = { source: everyAxon(found), checks: conditions }
    const [rarest] = conditions
      .map((condition) => ({
        source: condition.source,
        checks: conditions.filter((other) => other !== condition),
        size: total(probeStatement(condition.source, probeLimit)),
      }))
      .sort((a, b) => a.size - b.size || Number(b.source.isOrdered) - Number(a.source.isOrdered))
    if (!rarest) return { page: every, count: every }
    // Where many axons match, walking along all of them soon meets enough for a page.
    return { page: rarest.source.isOrdered || rarest.size < probeLimit ? rarest : every, count: rarest }
  }

  const remember = (request: AxonListRequest): Known | undefined => {
    const { account, query, version } = request
    const { id, name, search, metadata } = query
    const key = JSON.stringify([account, id, name, search, metadata])
    const before = known.get(key)
    if (before?.version === version) return before
    const walks = walksOf(account, query)
    if (!walks) return undefined
    if (known.size >= maxKnown) known.clear()
    const after = { version, walks }
    known.set(key, after)
    return after
  }

  /** The JSON of an AxonList: newest first, deleted ones included. */
  const list = (request: AxonListRequest): Buffer => {
    const { query, before } = request
    const found = remember(request)
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

/** The page is found on the indexes alone; only its own rows are then read, and written as JSON, which the metadata is. */
export const linesOf = ({ sql, values }: Clause): Clause => ({
  sql: `
    SELECT '{"id":"' || id || '","name":' || json_quote(name) || ',"created_at_ms":' || created_at_ms
      || ',"deleted_at_ms":' || coalesce(deleted_at_ms, 'null') || ',"metadata":' || metadata || '}' AS line
    FROM (${sql}) AS page CROSS JOIN axons USING (seq)`,
  values,
})
