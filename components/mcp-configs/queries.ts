import { mutationOptions, type QueryKey, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { listPages, listRefresh, type Shown } from '#lib/browser/queries/list/pages.ts'
import type { ConfigListQuery } from '#lib/contract/gateway-configs.ts'
import { type McpConfig, mcpConfigs } from '#lib/contract/mcp-configs.ts'

const pageApi = browserApi({ mcpConfigs })
type Api = typeof pageApi
type McpPage = Awaited<ReturnType<Api['mcpConfigs']['list']>>
type Create = Parameters<Api['mcpConfigs']['create']>[0]['body']

const mcpKeys = { all: ['mcp-configs'] as const }

const mcpList = (query: ConfigListQuery, api: Api) => ({
  queryKey: [...mcpKeys.all, 'list', query],
  query,
  read: (query: ConfigListQuery, signal: AbortSignal) => api.mcpConfigs.list({ query, signal }),
  rowsOf: ({ mcp_configs }: McpPage) => mcp_configs,
  withRows: (page: McpPage, rows: readonly McpConfig[]) => ({ ...page, mcp_configs: [...rows] }),
})

export const mcpQueries = {
  list: (query: ConfigListQuery, api: Api = pageApi) => ({
    ...listPages(mcpList(query, api)),
    refresh: (shown: () => Shown<McpConfig>) => listRefresh(mcpList(query, api), shown),
  }),

  get: (id: string) =>
    queryOptions<McpConfig, Error, McpConfig, QueryKey>({
      queryKey: [...mcpKeys.all, 'get', id],
      queryFn: ({ signal }) => pageApi.mcpConfigs.get({ params: { id }, signal }),
    }),
}

export const mcpMutations = {
  create: () => change('create', (body: Create) => pageApi.mcpConfigs.create({ body })),
  update: (id: string) => change('update', (body: Create) => pageApi.mcpConfigs.update({ params: { id }, body })),
  delete: () => change('delete', (id: string) => pageApi.mcpConfigs.delete({ params: { id } })),
}

const change = <Input>(name: string, call: (input: Input) => Promise<McpConfig>) =>
  mutationOptions({
    mutationKey: [...mcpKeys.all, name],
    mutationFn: call,
    onSettled: (_result, _error, _input, _context, { client }) =>
      void client.invalidateQueries({ queryKey: mcpKeys.all }),
  })
