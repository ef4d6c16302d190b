import * as z from 'zod/mini'
import { EpochMs, openEnum, StringMap } from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'

export const ClusterNode = z.object({
  id: z.string(),
  hostname: z.string(),
  address: z.nullish(z.string()),
  role: openEnum(['manager', 'worker']),
  state: openEnum(['ready', 'down', 'unknown', 'disconnected']),
  availability: openEnum(['active', 'pause', 'drain']),
  labels: StringMap,
  cpu_cores: z.number(),
  memory_bytes: z.int(),
  /** By all services of the swarm, not only devboxes. */
  reserved_cpu_cores: z.number(),
  reserved_memory_bytes: z.int(),
  /** By running devboxes, over the last seconds. Null if no devbox reports it. */
  used_cpu_cores: z.nullish(z.number()),
  used_memory_bytes: z.nullish(z.int()),
  /** Starting, running and suspending devboxes of all accounts. */
  devboxes: z.int(),
  drain_deadline_ms: z.nullish(EpochMs),
  drain_status: z.nullish(openEnum(['waiting', 'suspending', 'drained'])),
  /** Why the node can't be used, as a sentence. */
  problem: z.nullish(z.string()),
})
export type ClusterNode = z.infer<typeof ClusterNode>

export const Cluster = z.object({
  nodes: z.array(ClusterNode),
  /** Without one, devboxes stay with their nodes. */
  registry: z.nullish(z.string()),
  /** Devboxes that wait until a node has room for them. */
  waiting_devboxes: z.int(),
  /** Why no devbox can be created or resumed; `nodes` is as of `problem_since_ms`. */
  problem: z.nullish(z.string()),
  problem_since_ms: z.nullish(EpochMs),
  /** Constraints of all devboxes, such as `node.labels.pool==agents`. */
  placement: z.array(z.string()),
})
export type Cluster = z.infer<typeof Cluster>

const nodeMessage = 'must be the ID or hostname of a node'
const Node = z.object({ id: z.string().check(z.regex(/^[A-Za-z0-9._-]{1,253}$/, nodeMessage)) })

/** 404 without a cluster. */
export const cluster = defineEndpoints('cluster', 'stable', {
  get: get('/local/cluster', json(Cluster), { scope: 'local' }),
  drainNode: post(
    '/local/cluster/nodes/:id/drain',
    json(z.object({ eviction_deadline_ms: EpochMs, devboxes: z.int() })),
    {
      params: Node,
      body: z.object({ deadline_seconds: z.int().check(z.minimum(0), z.maximum(7 * 24 * 3600)) }),
      scope: 'local',
      operator: true,
    },
  ),
  /** Cancels a drain with its evictions. */
  activateNode: post('/local/cluster/nodes/:id/activate', json(ClusterNode), {
    params: Node,
    scope: 'local',
    operator: true,
  }),
})
