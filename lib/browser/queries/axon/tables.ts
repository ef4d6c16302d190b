import { queryOptions } from '@tanstack/react-query'
import { axons } from '#lib/contract/axons.ts'
import { browserApi } from '../../api/browser-api.ts'

const pageApi = browserApi({ axons })
type Api = typeof pageApi

export interface AxonTable {
  name: string
  kind: 'table' | 'view'
  columns: { name: string; type: string }[]
  /** Absent where nobody counted: a view may take long, and more tables than are counted at once. */
  rows?: number
  /** Why its columns could not be told: a view may name a table that is gone. */
  problem?: string
}

export const tablesKey = (id: string) => ['axons', 'tables', id] as const

/** More would be a long call for figures that nobody scrolls to. */
const maxCounted = 200

/** The tables and views in the database of an axon, by name; those of the service itself only as far as they are promised. */
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
        // One at a time: a view that cannot be read fails alone.
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
// Without the hidden columns of virtual tables, and without the tables they keep their contents in.
const columnsOfTables = `SELECT listed.name, described.name, described.type
  FROM (SELECT name FROM pragma_table_list WHERE type IN ('table', 'virtual') AND ${ownNames}) AS listed
  JOIN pragma_table_xinfo(listed.name) AS described WHERE described.hidden <> 1 ORDER BY listed.name, described.cid`
const viewNames = `SELECT name FROM pragma_table_list WHERE type = 'view' AND ${ownNames} ORDER BY name`

/** By the order of the tables; none when one of them cannot be counted. */
const countRows = async (api: Api, id: string, tables: readonly AxonTable[], signal: AbortSignal) => {
  if (tables.length === 0) return []
  const statements = tables.map(({ name }) => ({ sql: `SELECT count(*) FROM ${quoted(name)}` }))
  try {
    const { results } = await api.axons.batch({ params: { id }, body: { statements }, signal })
    return results.map(({ success }) => (success?.rows[0] as [number] | undefined)?.[0])
  } catch {
    // The list is worth showing without its figures.
    signal.throwIfAborted()
    return []
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** A statement to begin with: the first rows of a table with its columns by name. */
export const selectFrom = ({ name, columns }: Pick<AxonTable, 'name' | 'columns'>): string =>
  `SELECT ${columns.map((column) => quoted(column.name)).join(', ') || '*'}\nFROM ${quoted(name)}\nLIMIT 50`

/** Whether a statement may change what the list of tables tells. */
export const mayChangeTables = (sql: string): boolean => !/^\s*(select|values|explain|pragma)\b/i.test(sql)
