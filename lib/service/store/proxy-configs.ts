import type * as z from 'zod/mini'
import { type ConfigListQuery, GatewayConfig } from '#lib/contract/gateway-configs.ts'
import { McpConfig } from '#lib/contract/mcp-configs.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { equals } from './clauses.ts'
import type { Database } from './database.ts'
import { createTable, fieldsOf, type Page } from './table.ts'

type Config = Pick<GatewayConfig, 'id' | 'name' | 'description' | 'create_time_ms'>
type Nullish<T> = { [K in keyof T]?: T[K] | null | undefined }

export type ProxyConfigStore<C extends Config> = ReturnType<typeof createProxyConfigStore<C>>

export const createGatewayConfigStore = (database: Database) =>
  createProxyConfigStore<GatewayConfig>(database, 'gateway_configs', GatewayConfig, 'gwc')

export const createMcpConfigStore = (database: Database) =>
  createProxyConfigStore<McpConfig>(database, 'mcp_configs', McpConfig, 'mcp')

const createProxyConfigStore = <C extends Config>(
  database: Database,
  name: string,
  schema: z.ZodMiniObject,
  idPrefix: string,
) => {
  const fields = fieldsOf(schema)
  const table = createTable(database, name, {
    json: [
      'auth_mechanism',
      'custom_headers',
      ...('allowed_tools' in schema.shape ? ['allowed_tools'] : []),
    ] as never[],
    view: (row: C & { seq: number; account: string }): C => fields({ ...row, account_id: row.account }) as C,
  })
  const remove = database.prepare(`DELETE FROM ${name} WHERE id = ?`)
  type Row = Parameters<typeof table.insert>[0]

  return {
    ...table,

    idByName: (account: string, configName: string): string | undefined =>
      table.where('account = ? AND name = ?', account, configName)[0]?.id,

    list: (account: string, query: ConfigListQuery, before?: number): Page<C> =>
      table.list(account, query, before, equals('id', query.id)),

    create: (account: string, config: Nullish<C>, now: number): C => {
      const id = newId(idPrefix)
      const description = config.description || null
      table.insert({ ...config, id, account, description, create_time_ms: now } as Row)
      return table.get(account, id) as C
    },

    /** Missing and null fields keep their value. */
    update: (account: string, id: string, changes: Nullish<C>): C => {
      const given = Object.entries(changes).filter(([, value]) => value !== null && value !== undefined)
      const { description, ...rest } = Object.fromEntries(given)
      table.set(id, { ...rest, ...(description !== undefined && { description: description || null }) } as Row)
      return table.get(account, id) as C
    },

    delete: (id: string) => void remove.run(id),
  }
}
