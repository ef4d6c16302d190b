import type { Cluster, ClusterNodeState } from '#lib/service/engine/box.ts'
import { countOf, sizeText } from '#lib/service/kit/amounts.ts'

export interface Needs {
  cpuCores: number
  memoryBytes: number
}

type Room = Pick<Cluster, 'nodes' | 'managerProblem'>

interface Ahead {
  /** Devboxes of trials that the cluster doesn't count yet. */
  pending: readonly Needs[]
  /** Other devboxes that wait for a node. */
  waiting: readonly Needs[]
}

/** Why a cluster has no room for the devboxes of another trial; undefined if it has. */
export const roomProblem = (cluster: Room, needs: readonly Needs[], ahead: Ahead): string | undefined => {
  if (cluster.managerProblem()) return 'its manager is unreachable'
  const all = cluster.nodes()
  const nodes = all.filter(isUsable)
  if (nodes.length === 0) return 'no node is ready'
  // Trials would take the room that these wait for. Those too large for any node wait for a larger one.
  const before = ahead.waiting.filter((each) => nodes.some((node) => hasRoom(node, each))).length
  if (before > 0) return `${countOf(before, 'devbox is', 'devboxes are')} ahead in the queue`
  const free = nodes.map(freeOn)
  if ([...ahead.pending, ...needs].every((each) => place(free, each))) return undefined
  const unavailable = all.length - nodes.length
  return `${nodes.length} of ${countOf(all.length, 'node')} full${unavailable > 0 ? `, ${unavailable} unavailable` : ''}`
}

/** Why no trial with these needs can ever run. */
export const sizeProblem = (cluster: Room, needs: readonly Needs[]): string | undefined => {
  const nodes = cluster.nodes()
  const tooLarge = needs.find((each) => nodes.length > 0 && !nodes.some((node) => hasRoom(node, each)))
  if (!tooLarge) return undefined
  const { cpuCores, memoryBytes } = tooLarge
  return `The trial needs ${countOf(cpuCores, 'CPU core')} and ${sizeText(memoryBytes)} of memory, which no node of the cluster has`
}

const isUsable = ({ state, availability, problem }: ClusterNodeState) =>
  state === 'ready' && availability === 'active' && problem === undefined

const freeOn = (node: ClusterNodeState): Needs => ({
  cpuCores: node.cpuCores - node.reservedCpuCores,
  memoryBytes: node.memoryBytes - node.reservedMemoryBytes,
})

const hasRoom = (free: Needs, { cpuCores, memoryBytes }: Needs) =>
  free.cpuCores >= cpuCores && free.memoryBytes >= memoryBytes

/** On the emptiest node, since a swarm spreads services. */
const place = (free: Needs[], needs: Needs): boolean => {
  const [node] = free.filter((each) => hasRoom(each, needs)).sort((a, b) => b.cpuCores - a.cpuCores)
  if (!node) return false
  node.cpuCores -= needs.cpuCores
  node.memoryBytes -= needs.memoryBytes
  return true
}
