import { queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { axons } from '#lib/contract/axons.ts'

const pageApi = browserApi({ axons })
type Api = typeof pageApi

export interface AxonTable {
  name: string
  kind: 'table' | 'view'
  columns: { name: string; type: string }[]
  /** Missing for views, which can be slow, and beyond the first `maxCounted` tables. */
  rows?: number
  /** Why the columns are unknown, such as a view of a removed table. */
  problem?: string
}

export const tablesKey = (id: string) => ['axons', 'tables', id] as const

/** Counting more tables would make the request slow. */
const maxCounted = 200

/** Tables and views in an axon's database, by name, without the service's internal ones. */
export const axonTables = (id: string, api: Api = pageApi) =>
  queryOptions({
    queryKey: tablesKey(id),
    queryFn: async ({ signal }): Promise<AxonTable[]> => {
      const rowsOf = async (sql: string, params: unknown[] = []) =>
        (await api.axons.query({ params: { id }, body: { sql, params }, signal })).rows as string[][]
      const [inTables, views] = await Promise.all([rowsOf(columnsOfTables), rowsOf(viewNames)])
      const tables = new Map<string, AxonTable>()
      for (const [name = '', column = '', type = ''] of inTables) {
        const table = tables.get(name) ?? { name, kind: 'table', columns: [] }
        table.columns.push({ name: column, type })
        tables.set(name, table)
      }
      const counted = [...tables.values()].slice(0, maxCounted)
      const [counts] = await Promise.all([
        countRows(api, id, counted, signal),
        // Separately, so that a broken view does not fail the others.
        ...views.map(async ([name = '']) => {
          const view: AxonTable = { name, kind: 'view', columns: [] }
          tables.set(name, view)
          try {
            const columns = await rowsOf('SELECT name, type FROM pragma_table_xinfo(?)', [name])
            view.columns = columns.map(([name = '', type = '']) => ({ name, type }))
          } catch (error) {
            signal.throwIfAborted()
            view.problem = error instanceof Error ? error.message : String(error)
          }
        }),
      ])
      for (const [at, table] of counted.entries()) {
        const rows = counts[at]
        if (rows !== undefined) table.rows = rows
      }
      return [...tables.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    },
  })

const ownNames = `schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  AND (name NOT LIKE 'rl\\_%' ESCAPE '\\' OR name = 'rl_axon_events')`
// Excludes hidden columns and shadow tables of virtual tables.
const columnsOfTables = `SELECT listed.name, described.name, described.type
  FROM (SELECT name FROM pragma_table_list WHERE type IN ('table', 'virtual') AND ${ownNames}) AS listed
  JOIN pragma_table_xinfo(listed.name) AS described WHERE described.hidden <> 1 ORDER BY listed.name, described.cid`
const viewNames = `SELECT name FROM pragma_table_list WHERE type = 'view' AND ${ownNames} ORDER BY name`

/** Row counts in the order of `tables`; empty if any count fails. */
const countRows = async (api: Api, id: string, tables: readonly AxonTable[], signal: AbortSignal) => {
  if (tables.length === 0) return []
  const statements = tables.map(({ name }) => ({ sql: `SELECT count(*) FROM ${quoted(name)}` }))
  try {
    const { results } = await api.axons.batch({ params: { id }, body: { statements }, signal })
    return results.map(({ success }) => (success?.rows[0] as [number] | undefined)?.[0])
  } catch {
    // Show the tables without counts.
    signal.throwIfAborted()
    return []
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

export const selectFrom = ({ name, columns }: Pick<AxonTable, 'name' | 'columns'>): string =>
  `SELECT ${columns.map((column) => quoted(column.name)).join(', ') || '*'}\nFROM ${quoted(name)}\nLIMIT 50`

export const mayChangeTables = (sql: string): boolean => !/^\s*(select|values|explain|pragma)\b/i.test(sql)
