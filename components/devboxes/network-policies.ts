import { queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { maxPageSize } from '#lib/contract/common.ts'
import { networkPolicies } from '#lib/contract/network-policies.ts'

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
