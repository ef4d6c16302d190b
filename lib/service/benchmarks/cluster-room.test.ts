import { describe, expect, it } from 'vitest'
import type { ClusterNodeState } from '#lib/service/engine/box.ts'
import { type Needs, roomProblem, sizeProblem } from './cluster-room.ts'

const gib = 2 ** 30
const node = (reservedCpuCores: number, more: Partial<ClusterNodeState> = {}): ClusterNodeState => ({
  id: 'id',
  hostname: 'node',
  address: '192.0.2.1',
  role: 'worker',
  state: 'ready',
  availability: 'active',
  labels: {},
  cpuCores: 4,
  memoryBytes: 8 * gib,
  reservedCpuCores,
  reservedMemoryBytes: 0,
  ...more,
})
const cpus = (cpuCores: number): Needs => ({ cpuCores, memoryBytes: gib })
const clusterOf = (...nodes: ClusterNodeState[]) => ({ nodes: () => nodes, managerProblem: () => undefined })
const problem = (nodes: ClusterNodeState[], needs: Needs[], ahead: { pending?: Needs[]; waiting?: Needs[] } = {}) =>
  roomProblem(clusterOf(...nodes), needs, { pending: [], waiting: [], ...ahead })

describe('roomProblem', () => {
  it('finds room for all devboxes of a trial together', () => {
    expect(problem([node(2), node(4)], [cpus(2)])).toBeUndefined()
    expect(problem([node(2), node(3)], [cpus(2), cpus(1)])).toBeUndefined()
    expect(problem([node(2), node(4)], [cpus(2), cpus(1)])).toBe('2 of 2 nodes full')
    expect(problem([node(4), node(4), node(4)], [cpus(1)])).toBe('3 of 3 nodes full')
    expect(problem([node(0, { reservedMemoryBytes: 7.5 * gib })], [cpus(1)])).toBe('1 of 1 node full')
  })

  it('counts only nodes that take new devboxes', () => {
    const unusable = [node(0, { state: 'down' }), node(0, { availability: 'drain' }), node(0, { problem: 'closed' })]
    expect(problem(unusable, [cpus(1)])).toBe('no node is ready')
    expect(problem([...unusable, node(4)], [cpus(1)])).toBe('1 of 4 nodes full, 3 unavailable')
  })

  it('leaves room for trials that are about to start, and for devboxes that wait', () => {
    expect(problem([node(2)], [cpus(1)], { pending: [cpus(1)] })).toBeUndefined()
    expect(problem([node(2)], [cpus(1)], { pending: [cpus(2)] })).toBe('1 of 1 node full')
    expect(problem([node(2)], [cpus(1)], { waiting: [cpus(4)] })).toBe('1 devbox is ahead in the queue')
    expect(problem([node(2)], [cpus(1)], { waiting: [cpus(8)] })).toBeUndefined()
  })

  it('has none while the manager is unreachable', () => {
    const cluster = { nodes: () => [node(0)], managerProblem: () => ({ message: 'closed', sinceMs: 0 }) }
    expect(roomProblem(cluster, [cpus(1)], { pending: [], waiting: [] })).toBe('its manager is unreachable')
  })
})

it('a trial that is larger than every node can never run', () => {
  const cluster = clusterOf(node(4), node(0, { state: 'down', cpuCores: 8 }))
  expect(sizeProblem(cluster, [cpus(8)])).toBeUndefined()
  expect(sizeProblem(cluster, [cpus(1), cpus(16)])).toBe(
    'The trial needs 16 CPU cores and 1.0 GiB of memory, which no node of the cluster has',
  )
})
