import * as z from 'zod/mini'
import { ConfigListQuery } from '#lib/contract/gateway-configs.ts'

/** Shared by gateways and MCP servers. */
export const ConfigSearchParams = z.extend(ConfigListQuery, { columns: z.optional(z.string()) })
export type ConfigSearchParams = z.output<typeof ConfigSearchParams>

export const configQueryOf = ({ columns: _, ...query }: ConfigSearchParams): ConfigListQuery => query
