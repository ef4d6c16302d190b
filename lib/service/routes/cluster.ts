import { cluster } from '#lib/contract/cluster.ts'
import { implement } from '#lib/service/http/implement.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'

export const clusterRoutes = ({ cluster: parts, now }: Deps) => {
  const required = () => {
    if (!parts) throw new ServiceError('not_found', 'This service has no cluster')
    return parts
  }
  return implement(cluster, {
    get: () => required().state.read(),
    async drainNode({ params, body }) {
      const { state, drains } = required()
      const eviction_deadline_ms = now() + body.deadline_seconds * 1000
      return { eviction_deadline_ms, devboxes: await drains.start(state.find(params.id), eviction_deadline_ms) }
    },
    async activateNode({ params }) {
      const { state, drains } = required()
      await drains.activate(state.find(params.id))
      return state.node(params.id)
    },
  })
}
