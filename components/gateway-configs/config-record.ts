import type { GatewayConfig } from '#lib/contract/gateway-configs.ts'

/** A gateway or an MCP server. */
export interface ConfigRecord extends Omit<GatewayConfig, 'account_id'> {
  /** MCP servers only. */
  allowed_tools?: readonly string[]
}

export const capitalized = (noun: string): string => noun.charAt(0).toUpperCase() + noun.slice(1)
