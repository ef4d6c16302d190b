import type { ClusterView } from '#lib/protocol/cluster.ts'
import { openSession } from '../accounts/session.ts'
import { operatorRefusal, readCluster } from './routes.ts'

const waitMs = 1_000

/** For server rendering. Undefined if the service doesn't respond soon: the browser then reads it. */
export const readClusterView = async (): Promise<ClusterView | undefined> => {
  const session = await openSession()
  if (!session) return undefined
  const cluster = await readCluster(session, waitMs).catch(() => undefined)
  return cluster === undefined ? undefined : { cluster, operator_refusal: operatorRefusal(session) }
}
