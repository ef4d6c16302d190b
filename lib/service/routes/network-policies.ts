import { networkPolicies } from '#lib/contract/network-policies.ts'
import { implement } from '#lib/service/http/implement.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'
import { listPage } from './pages.ts'

export const networkPolicyRoutes = ({ store: { networkPolicies: store }, now }: Deps) => {
  const get = (account: string, id: string) => store.get(account, id) ?? notFound('network policy', id)
  // Unspecified: 409, as for secrets.
  const rejectTakenName = (account: string, name: string | null | undefined, ownId?: string) => {
    const holder = name ? store.idByName(account, name) : undefined
    if (holder !== undefined && holder !== ownId)
      throw new ServiceError('conflict', `Network policy ${holder} is already named ${name}`, {
        field: 'name',
        shouldRetry: false,
      })
  }
  return implement(networkPolicies, {
    list: ({ query, account }) => listPage('network_policies', 'network policy', store, account, query),
    create: ({ body, account }) => {
      rejectTakenName(account, body.name)
      return store.create(account, body, now())
    },
    get: ({ params, account }) => get(account, params.id),
    update: ({ params, body, account }) => {
      const policy = get(account, params.id)
      rejectTakenName(account, body.name, policy.id)
      return store.update(policy, body, now())
    },
    delete: ({ params, account }) => {
      const policy = get(account, params.id)
      const devboxId = store.devboxUsing(account, policy.id)
      // Unspecified: 409. The devbox would restart without rules.
      if (devboxId !== undefined)
        throw new ServiceError('conflict', `Devbox ${devboxId} uses the network policy. Shut it down first`, {
          shouldRetry: false,
        })
      store.delete(policy.id)
      return policy
    },
  })
}
