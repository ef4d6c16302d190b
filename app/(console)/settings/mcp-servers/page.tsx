import type { Metadata } from 'next'
import { ConfigSearchParams, configQueryOf } from '#components/gateway-configs/search-params.ts'
import { McpServerList } from '#components/mcp-configs/list.tsx'
import { mcpQueries } from '#components/mcp-configs/queries.ts'
import { listPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'MCP servers' })

export default listPage(McpServerList, 'mcpColumns', ConfigSearchParams, (view, api) =>
  mcpQueries.list(configQueryOf(view), api),
)
