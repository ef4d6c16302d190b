import { keepPreviousData, type QueryKey, queryOptions } from '@tanstack/react-query'
import type { PickedRecord, PickerPage } from '#components/list/record-picker.tsx'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { agents } from '#lib/contract/agents.ts'
import { gatewayConfigs } from '#lib/contract/gateway-configs.ts'
import { mcpConfigs } from '#lib/contract/mcp-configs.ts'
import { networkPolicies } from '#lib/contract/network-policies.ts'
import { objects } from '#lib/contract/objects.ts'
import { snapshots } from '#lib/contract/snapshots.ts'

const pageApi = browserApi({ agents, gatewayConfigs, mcpConfigs, networkPolicies, objects, snapshots })

/** Enough to choose from in a select field. */
const limit = 100
const paging = { limit, include_total_count: false } as const

interface Found {
  rows: PickedRecord[]
  has_more: boolean
}

const choices =
  (key: string, read: (query: { search?: string }, signal: AbortSignal) => Promise<Found>) => (search: string) =>
    queryOptions<PickerPage, Error, PickerPage, QueryKey>({
      queryKey: ['choices', key, search],
      queryFn: async ({ signal }) => {
        const { rows, has_more } = await read(search ? { search } : {}, signal)
        const word = search.toLowerCase()
        return {
          // A service may ignore the search.
          rows: rows
            .filter(({ id, name }) => `${name}\n${id}`.toLowerCase().includes(word))
            .map((row) => ({ ...row, detail: '' })),
          total: null,
          hasMore: has_more,
        }
      },
      placeholderData: keepPreviousData,
      retry: false,
    })

/** Records that a devbox can be created with. */
export const choiceQueries = {
  /** The API has no search for snapshots. */
  snapshots: choices('snapshots', async (_search, signal) => {
    const page = await pageApi.snapshots.list({ query: paging, signal })
    const sized = page.snapshots.filter(({ size_bytes }) => size_bytes != null)
    // Without any size, the service doesn't report them, so incomplete copies look the same.
    const complete = sized.length > 0 ? sized : page.snapshots
    return { ...page, rows: complete.map(({ id, name }) => ({ id, name: name ? `${name} (${id})` : id })) }
  }),

  objects: choices('objects', async (search, signal) => {
    const page = await pageApi.objects.list({ query: { ...paging, ...search, state: 'READ_ONLY' }, signal })
    return { ...page, rows: page.objects.filter(({ state }) => state === 'READ_ONLY') }
  }),

  agents: choices('agents', async (search, signal) => {
    const page = await pageApi.agents.list({ query: { ...paging, ...search }, signal })
    return {
      ...page,
      rows: page.agents.map(({ id, name, version }) => ({ id, name: version ? `${name} ${version}` : name })),
    }
  }),

  networkPolicies: choices('network-policies', async (search, signal) => {
    const page = await pageApi.networkPolicies.list({ query: { ...paging, ...search }, signal })
    return { ...page, rows: page.network_policies }
  }),

  gateways: choices('gateways', async (search, signal) => {
    const page = await pageApi.gatewayConfigs.list({ query: { ...paging, ...search }, signal })
    return { ...page, rows: page.gateway_configs }
  }),

  mcpServers: choices('mcp-servers', async (search, signal) => {
    const page = await pageApi.mcpConfigs.list({ query: { ...paging, ...search }, signal })
    return { ...page, rows: page.mcp_configs }
  }),
}
