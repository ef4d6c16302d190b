import { networkPolicies } from '#lib/contract/network-policies.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const networkPolicyRoutes = () =>
  implement(networkPolicies, {
    list: notImplemented,
    create: notImplemented,
    get: notImplemented,
    update: notImplemented,
    delete: notImplemented,
  })
