import type { Metadata } from 'next'
import { AgentList } from '#components/agents/list.tsx'
import { agentQueries } from '#components/agents/queries.ts'
import { AgentSearchParams, agentQueryOf } from '#components/agents/search-params.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Agents' })

export default listPage(AgentList, 'agentColumns', AgentSearchParams, (view, api) =>
  agentQueries.list(agentQueryOf(view), api),
)
