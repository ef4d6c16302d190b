import * as z from 'zod/mini'
import { NetworkPolicyListQuery } from '#lib/contract/network-policies.ts'

export const PolicySearchParams = z.extend(NetworkPolicyListQuery, {
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type PolicySearchParams = z.output<typeof PolicySearchParams>

export const policyQueryOf = ({ columns: _, sort: __, ...query }: PolicySearchParams): NetworkPolicyListQuery => query
