import type { NetworkPolicy } from '#lib/contract/network-policies.ts'
import type { Database } from './database.ts'

export const createNetworkPolicyStore = (_database: Database) => ({
  get: (_account: string, _id: string): NetworkPolicy | undefined => undefined,
})

export type NetworkPolicyStore = ReturnType<typeof createNetworkPolicyStore>
