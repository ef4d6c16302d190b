import { queryOptions } from '@tanstack/react-query'
import { networkPolicies } from '#lib/contract/network-policies.ts'
import { maxPageSize } from '#lib/contract/paging.ts'
import { browserApi } from '../../api/browser-api.ts'

const pageApi = browserApi({ networkPolicies })

export const networkPolicyQueries = {
  /** Those that can be chosen from; `has_more` says that there are others. */
  offered: () =>
    queryOptions({
      queryKey: ['network-policies', 'offered'] as const,
      queryFn: ({ signal }) => pageApi.networkPolicies.list({ query: { limit: maxPageSize }, signal }),
      staleTime: 30_000,
    }),
}
