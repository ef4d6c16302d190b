import type { Metadata } from 'next'
import { NetworkPolicyList } from '#components/network-policies/list.tsx'
import { policyQueries } from '#components/network-policies/queries.ts'
import { PolicySearchParams, policyQueryOf } from '#components/network-policies/search-params.ts'
import { listPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Network policies' })

export default listPage(NetworkPolicyList, 'policyColumns', PolicySearchParams, (view, api) =>
  policyQueries.list(policyQueryOf(view), api),
)
