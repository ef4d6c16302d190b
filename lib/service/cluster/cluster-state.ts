import type { Cluster as ClusterBody, ClusterNode } from '#lib/contract/cluster.ts'
import type { DevboxStats } from '#lib/service/devboxes/stats.ts'
import type { Cluster, ClusterNodeState } from '#lib/service/engine/box.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { DevboxStore } from '#lib/service/store/devboxes.ts'
import type { NodeDrains } from './node-drains.ts'

interface Options {
  cluster: Cluster
  drains: Pick<NodeDrains, 'stateOf'>
  devboxes: Pick<DevboxStore, 'onNode' | 'countByNode'>
  stats: Pick<DevboxStats, 'latest'>
}

/** What the API reports about the cluster. */
export class ClusterState {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  read(): ClusterBody {
    const { cluster, devboxes } = this.#options
    const problem = cluster.managerProblem()
    const counts = devboxes.countByNode()
    return {
      nodes: cluster
        .nodes()
        .map((node) => this.#view(node, counts.get(node.id) ?? 0))
        .sort((a, b) => a.hostname.localeCompare(b.hostname, 'en', { numeric: true })),
      registry: cluster.registry ?? null,
      waiting_devboxes: cluster.waiting().length,
      problem: problem?.message ?? null,
      problem_since_ms: problem?.sinceMs ?? null,
      placement: [...cluster.placement],
    }
  }

  node(id: string): ClusterNode {
    const node = this.find(id)
    return this.#view(node, this.#options.devboxes.countByNode().get(node.id) ?? 0)
  }

  /** By id or hostname. Throws 404, or 400 if several nodes have the hostname. */
  find(name: string): ClusterNodeState {
    const nodes = this.#options.cluster.nodes()
    const byId = nodes.find(({ id }) => id === name)
    const [found, other] = byId ? [byId] : nodes.filter(({ hostname }) => hostname === name)
    if (!found) throw new ServiceError('not_found', `The cluster has no node ${name}`)
    if (other)
      throw new ServiceError('invalid_argument', `Several nodes have the hostname ${name}; use an ID`, {
        field: 'id',
        shouldRetry: false,
      })
    return found
  }

  #view(node: ClusterNodeState, devboxes: number): ClusterNode {
    const { drains } = this.#options
    const { deadlineMs, status } = drains.stateOf(node)
    const used = devboxes > 0 ? this.#usedOn(node.id) : { cpuCores: 0, memoryBytes: 0 }
    return {
      id: node.id,
      hostname: node.hostname,
      address: node.address || null,
      role: node.role,
      state: node.state,
      availability: node.availability,
      labels: { ...node.labels },
      cpu_cores: node.cpuCores,
      memory_bytes: node.memoryBytes,
      reserved_cpu_cores: node.reservedCpuCores,
      reserved_memory_bytes: node.reservedMemoryBytes,
      used_cpu_cores: used?.cpuCores ?? null,
      used_memory_bytes: used?.memoryBytes ?? null,
      devboxes,
      drain_deadline_ms: deadlineMs,
      drain_status: status,
      problem: node.problem ?? null,
    }
  }

  #usedOn(nodeId: string): { cpuCores: number; memoryBytes: number } | undefined {
    const { devboxes, stats } = this.#options
    const measured = devboxes.onNode(nodeId).flatMap((id) => stats.latest(id) ?? [])
    if (measured.length === 0) return undefined
    return {
      cpuCores: measured.reduce((sum, { cpuCores }) => sum + cpuCores, 0),
      memoryBytes: measured.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
    }
  }
}
