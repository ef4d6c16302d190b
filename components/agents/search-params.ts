import * as z from 'zod/mini'
import { AgentListQuery } from '#lib/contract/agents.ts'

export const AgentSearchParams = z.extend(AgentListQuery, {
  scope: z.optional(z.enum(['public'])),
  columns: z.optional(z.string()),
})
export type AgentSearchParams = z.output<typeof AgentSearchParams>

export type ScopedAgentQuery = AgentListQuery & Pick<AgentSearchParams, 'scope'>

export const agentQueryOf = ({ columns: _, ...query }: AgentSearchParams): ScopedAgentQuery => query
