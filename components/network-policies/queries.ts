import { mutationOptions, type QueryKey, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { matcher } from '#lib/browser/lists/row-filters.ts'
import { listPages, listRefresh, type Shown } from '#lib/browser/queries/list/pages.ts'
import {
  type NetworkPolicy,
  type NetworkPolicyCreate,
  type NetworkPolicyListQuery,
  type NetworkPolicyUpdate,
  networkPolicies,
} from '#lib/contract/network-policies.ts'

const pageApi = browserApi({ networkPolicies })
type Api = typeof pageApi
type PolicyPage = Awaited<ReturnType<Api['networkPolicies']['list']>>

const policyKeys = { all: ['network-policies'] as const }

export const policyMatches = matcher<NetworkPolicyListQuery, NetworkPolicy>({ id: (policy, id) => policy.id === id })

const policyList = (query: NetworkPolicyListQuery, api: Api) => ({
  queryKey: [...policyKeys.all, 'list', query],
  query,
  read: (query: NetworkPolicyListQuery, signal: AbortSignal) => api.networkPolicies.list({ query, signal }),
  rowsOf: ({ network_policies }: PolicyPage) => network_policies,
  withRows: (page: PolicyPage, rows: readonly NetworkPolicy[]) => ({ ...page, network_policies: [...rows] }),
})

export const policyQueries = {
  list: (query: NetworkPolicyListQuery, api: Api = pageApi) => ({
    ...listPages(policyList(query, api)),
    refresh: (shown: () => Shown<NetworkPolicy>) => listRefresh(policyList(query, api), shown),
  }),

  get: (id: string) =>
    queryOptions<NetworkPolicy, Error, NetworkPolicy, QueryKey>({
      queryKey: [...policyKeys.all, 'get', id],
      queryFn: ({ signal }) => pageApi.networkPolicies.get({ params: { id }, signal }),
    }),
}

export const policyMutations = {
  create: () => change('create', (body: NetworkPolicyCreate) => pageApi.networkPolicies.create({ body })),
  update: (id: string) =>
    change('update', (body: NetworkPolicyUpdate) => pageApi.networkPolicies.update({ params: { id }, body })),
  delete: () => change('delete', (id: string) => pageApi.networkPolicies.delete({ params: { id } })),
}

const change = <Input>(name: string, call: (input: Input) => Promise<NetworkPolicy>) =>
  mutationOptions({
    mutationKey: [...policyKeys.all, name],
    mutationFn: call,
    onSettled: (_result, _error, _input, _context, { client }) =>
      void client.invalidateQueries({ queryKey: policyKeys.all }),
  })
