import { cluster } from '#lib/contract/cluster.ts'
import { implement } from '#lib/service/http/implement.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

export const clusterRoutes = () => {
  const noCluster = () => {
    throw new ServiceError('not_found', 'This service has no cluster')
  }
  return implement(cluster, { get: noCluster, drainNode: noCluster, activateNode: noCluster })
}
