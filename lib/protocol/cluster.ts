import type { Cluster } from '#lib/contract/cluster.ts'

/** Response of `GET /api/cluster`. */
export interface ClusterView {
  /** Null: the service runs devboxes on one machine. */
  cluster: Cluster | null
  /** Why this account can't drain or activate nodes. */
  operator_refusal: string | null
}
