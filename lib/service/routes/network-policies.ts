import { networkPolicies } from '#lib/contract/network-policies.ts'
import type { Deps } from '#lib/service/deps.ts'
import { implement } from '#lib/service/http/implement.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { listPage } from './pages.ts'

export const networkPolicyRoutes = ({ store: { networkPolicies: store }, now }: Deps) => {
  const get = (account: string, id: string) => store.get(account, id) ?? notFound('network policy', id)
  // Unspecified: 409, as for the name of a secret.
  const refuseTaken = (account: string, name: string | null | undefined, own?: string) => {
    const holder = name ? store.idOf(account, name) : undefined
    if (holder !== undefined && holder !== own)
      throw new ServiceError('conflict', `Network policy ${holder} has the name ${name} already`, {
        field: 'name',
        shouldRetry: false,
      })
  }
  return implement(networkPolicies, {
    list: ({ query, account }) => listPage('network_policies', 'network policy', store, account, query),
    create: ({ body, account }) => {
      refuseTaken(account, body.name)
      return store.create(account, body, now())
    },
    get: ({ params, account }) => get(account, params.id),
    update: ({ params, body, account }) => {
      const policy = get(account, params.id)
      refuseTaken(account, body.name, policy.id)
      return store.update(policy, body, now())
    },
    delete: ({ params, account }) => {
      const policy = get(account, params.id)
      const user = store.userOf(account, policy.id)
      // Unspecified: 409. The devbox would start again with no rules to go by.
      if (user !== undefined)
        throw new ServiceError('conflict', `Devbox ${user} uses the network policy; shut it down first`, {
          shouldRetry: false,
        })
      store.delete(policy.id)
      return policy
    },
  })
}
