'use client'
import { Plug } from 'lucide-react'
import dynamic from 'next/dynamic'
import type { ConfigDialog as LoadedDialog } from '#components/gateway-configs/config-dialog.tsx'
import { ConfigList } from '#components/gateway-configs/config-list.tsx'
import type { Column } from '#components/list/column.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { type McpConfig, McpConfigCreate } from '#lib/contract/mcp-configs.ts'
import { mcpMutations, mcpQueries } from './queries.ts'

// `dynamic` would lose the type parameters.
const ConfigDialog = dynamic(
  async () => (await import('#components/gateway-configs/config-dialog.tsx')).ConfigDialog,
) as typeof LoadedDialog

const toolsColumn: Column<McpConfig> = {
  accessorFn: ({ allowed_tools }) => allowed_tools.join(', '),
  id: 'tools',
  header: 'Allowed tools',
  meta: { priority: 3, mono: true, export: { allowed_tools: ({ allowed_tools }) => allowed_tools } },
}

const kind = {
  noun: 'MCP server',
  nouns: 'MCP servers',
  title: 'MCP servers',
  icon: Plug,
  resource: 'mcpConfigs' as const,
  apiPath: '/v1/mcp-configs',
  path: paths.mcpServers,
  cookie: 'mcpColumns' as const,
  list: mcpQueries.list,
  get: mcpQueries.get,
  remove: mcpMutations.delete,
  columns: [toolsColumn],
  intro:
    'An MCP server gives tools to agents in devboxes. The service adds the credential and allows only the listed tools.',
  sample: {
    path: '/v1/mcp-configs',
    method: 'mcpConfigs.create',
    body: { name: 'github', endpoint: 'https://mcp.example.com', allowed_tools: ['github.search_*'] },
    result: 'server',
  },
  uses: ({ mcp_specs }: { mcp_specs?: Record<string, { mcp_config_id: string }> | null | undefined }, id: string) =>
    Object.values(mcp_specs ?? {}).some(({ mcp_config_id }) => mcp_config_id === id),
  Dialog: ({ config, onClose }: { config: McpConfig | undefined; onClose: () => void }) => (
    <ConfigDialog
      noun="MCP server"
      needs={config ? 'mcpConfigs.update' : 'mcpConfigs.create'}
      description="Agents in devboxes reach its tools through the service, which adds the credential."
      config={config}
      hasTools
      schema={McpConfigCreate}
      mutation={config ? mcpMutations.update(config.id) : mcpMutations.create()}
      onClose={onClose}
    />
  ),
}

export const McpServerList = (props: { serviceUrl: string; savedColumns: string }) => (
  <ConfigList kind={kind} {...props} />
)
