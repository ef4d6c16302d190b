import { mutationOptions, type QueryKey, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { matcher } from '#lib/browser/lists/row-filters.ts'
import { listPages, listRefresh, type Shown } from '#lib/browser/queries/list/pages.ts'
import { type ConfigListQuery, type GatewayConfig, gatewayConfigs } from '#lib/contract/gateway-configs.ts'

const pageApi = browserApi({ gatewayConfigs })
type Api = typeof pageApi
type GatewayPage = Awaited<ReturnType<Api['gatewayConfigs']['list']>>
type Create = Parameters<Api['gatewayConfigs']['create']>[0]['body']

const gatewayKeys = { all: ['gateway-configs'] as const }

export const configMatches = matcher<ConfigListQuery, Pick<GatewayConfig, 'id' | 'name'>>({
  id: (config, id) => config.id === id,
})

const gatewayList = (query: ConfigListQuery, api: Api) => ({
  queryKey: [...gatewayKeys.all, 'list', query],
  query,
  read: (query: ConfigListQuery, signal: AbortSignal) => api.gatewayConfigs.list({ query, signal }),
  rowsOf: ({ gateway_configs }: GatewayPage) => gateway_configs,
  withRows: (page: GatewayPage, rows: readonly GatewayConfig[]) => ({ ...page, gateway_configs: [...rows] }),
})

export const gatewayQueries = {
  list: (query: ConfigListQuery, api: Api = pageApi) => ({
    ...listPages(gatewayList(query, api)),
    refresh: (shown: () => Shown<GatewayConfig>) => listRefresh(gatewayList(query, api), shown),
  }),

  get: (id: string) =>
    queryOptions<GatewayConfig, Error, GatewayConfig, QueryKey>({
      queryKey: [...gatewayKeys.all, 'get', id],
      queryFn: ({ signal }) => pageApi.gatewayConfigs.get({ params: { id }, signal }),
    }),
}

export const gatewayMutations = {
  create: () => change('create', (body: Create) => pageApi.gatewayConfigs.create({ body })),
  update: (id: string) => change('update', (body: Create) => pageApi.gatewayConfigs.update({ params: { id }, body })),
  delete: () => change('delete', (id: string) => pageApi.gatewayConfigs.delete({ params: { id } })),
}

const change = <Input>(name: string, call: (input: Input) => Promise<GatewayConfig>) =>
  mutationOptions({
    mutationKey: [...gatewayKeys.all, name],
    mutationFn: call,
    onSettled: (_result, _error, _input, _context, { client }) =>
      void client.invalidateQueries({ queryKey: gatewayKeys.all }),
  })
