import * as z from 'zod/mini'
import { AgentListQuery } from '#lib/contract/agents.ts'

export const AgentSearchParams = z.extend(AgentListQuery, {
  scope: z.optional(z.enum(['public'])),
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type AgentSearchParams = z.output<typeof AgentSearchParams>

export type ScopedAgentQuery = AgentListQuery & Pick<AgentSearchParams, 'scope'>

export const agentQueryOf = ({ columns: _, sort: __, ...query }: AgentSearchParams): ScopedAgentQuery => query
