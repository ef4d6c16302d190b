import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { logError, logFailure } from '#lib/service/kit/log.ts'
import type { Cluster, ClusterNodeState, WaitingDevbox } from '../box.ts'
import type { EngineAddress } from '../container/engine-address.ts'
import { EngineApi } from '../container/engine-api.ts'
import { type ContainerEvent, followEvents } from '../container/engine-events.ts'
import { endedStates } from './devbox-service.ts'

const pollMs = 1000
const maxPollMs = 10_000

/** A node of the swarm whose API the service uses. */
export interface SwarmNode {
  id: string
  hostname: string
  api: EngineApi
}

interface Handlers {
  event(node: SwarmNode, event: ContainerEvent): void
  /** At every connection to the node's API. A rejection counts as a failed connection. */
  connected(node: SwarmNode): Promise<void>
  /** The swarm has given up on the node, or doesn't have it anymore. */
  lost(node: SwarmNode): void
}

interface Options {
  manager: EngineApi
  /** Undefined if the node's API has no address. */
  addressOf: (node: { address: string; hostname: string; isManager: boolean }) => EngineAddress | undefined
  serviceId: string
  registry: string | undefined
  placement: readonly string[]
  waiting: () => readonly WaitingDevbox[]
  reservationOf: Cluster['reservationOf']
  handlers: Handlers
}

interface Problem {
  message: string
  sinceMs: number
}

interface Known {
  state: ClusterNodeState
  node?: SwarmNode
  close(): void
}

/** Follows the nodes of a swarm through its manager, and each node through its own API. */
export class SwarmNodes implements Cluster {
  readonly changes = new EventEmitter().setMaxListeners(0)
  readonly registry: string | undefined
  readonly placement: readonly string[]
  readonly waiting: () => readonly WaitingDevbox[]
  readonly reservationOf: Cluster['reservationOf']
  readonly #options: Options
  readonly #known = new Map<string, Known>()
  readonly #closed = new AbortController()
  readonly #first = Promise.withResolvers<void>()
  #problem: Problem | undefined
  #counted: ReadonlySet<string> = new Set()
  #last = ''

  constructor(options: Options) {
    this.#options = options
    this.registry = options.registry
    this.placement = options.placement
    this.waiting = options.waiting
    this.reservationOf = options.reservationOf
    this.#first.promise.catch(() => undefined)
    void this.#follow()
  }

  /** Settles with the first answer of the manager and of the nodes that are ready. */
  get connected(): Promise<void> {
    return this.#first.promise
  }

  nodes(): readonly ClusterNodeState[] {
    return [...this.#known.values()].map(({ state }) => state)
  }

  managerProblem() {
    return this.#problem
  }

  counts(devboxId: string): boolean {
    return this.#counted.has(devboxId)
  }

  /** Undefined while the node isn't known or its API has no address. */
  find(nodeId: string): SwarmNode | undefined {
    return this.#known.get(nodeId)?.node
  }

  /** Whether requests to the node's API would hang. */
  isSilent(nodeId: string): boolean {
    return this.#known.get(nodeId)?.state.problem !== undefined
  }

  ready(): readonly SwarmNode[] {
    return [...this.#known.values()].flatMap(({ state, node }) => (node && state.state === 'ready' ? node : []))
  }

  /** Nodes whose API responds: those that take new devboxes first, the one with the most free CPU before others. */
  reachable(): readonly SwarmNode[] {
    const free = ({ state }: Known) =>
      (state.availability === 'active' ? 1e6 : 0) + state.cpuCores - state.reservedCpuCores
    return [...this.#known.values()]
      .filter(({ state }) => state.state === 'ready' && state.problem === undefined)
      .sort((a, b) => free(b) - free(a))
      .flatMap(({ node }) => node ?? [])
  }

  /** Hostnames of the nodes whose API doesn't respond. */
  unreachable(): readonly string[] {
    const reachable = new Set(this.reachable().map(({ id }) => id))
    return this.nodes().flatMap(({ id, hostname }) => (reachable.has(id) ? [] : hostname))
  }

  async setAvailability(nodeId: string, availability: 'active' | 'pause' | 'drain'): Promise<void> {
    const { Version, Spec } = await this.#options.manager.json<NodeInfo>('GET', `/nodes/${nodeId}`)
    const body = { ...Spec, Availability: availability }
    await this.#options.manager.json('POST', `/nodes/${nodeId}/update`, { query: { version: Version.Index }, body })
    await this.#poll()
  }

  close(): void {
    this.#closed.abort()
    for (const { close } of this.#known.values()) close()
  }

  async #follow() {
    const { signal } = this.#closed
    for (let waitMs = pollMs; !signal.aborted; ) {
      try {
        const connections = await this.#poll()
        waitMs = pollMs
        if (this.#problem) logError({ message: `The swarm manager at ${this.#options.manager.url} is available again` })
        this.#setProblem(undefined)
        void Promise.allSettled(connections).then(() => this.#first.resolve())
      } catch (error) {
        if (signal.aborted) return
        const { message } = error as Error
        this.#first.reject(error)
        if (!this.#problem) logError({ message })
        this.#setProblem({ message, sinceMs: this.#problem?.sinceMs ?? Date.now() })
        waitMs = Math.min(2 * waitMs, maxPollMs)
      }
      await delay(waitMs, undefined, { ref: false })
    }
  }

  #setProblem(problem: Problem | undefined) {
    const isChange = this.#problem?.message !== problem?.message
    this.#problem = problem
    if (isChange) this.changes.emit('nodes')
  }

  /** Returns the first connections to new nodes. */
  async #poll(): Promise<Promise<void>[]> {
    const { manager, addressOf, handlers } = this.#options
    const filters = { 'desired-state': ['running'] }
    const timeoutMs = maxPollMs
    const [nodes, tasks] = await Promise.all([
      manager.json<NodeInfo[]>('GET', '/nodes', { timeoutMs }),
      manager.json<TaskInfo[]>('GET', '/tasks', { query: { filters }, timeoutMs }),
    ])
    const connections: Promise<void>[] = []
    const reserved = reservations(tasks)
    this.#counted = new Set(
      tasks.flatMap(({ NodeID, Spec }) => (NodeID && Spec.ContainerSpec?.Labels?.['devdeck.devbox']) || []),
    )
    for (const info of nodes) {
      const known = this.#known.get(info.ID)
      const { Address, hostname } = addressesOf(info)
      const state = stateOf(info, Address, reserved.get(info.ID), known?.state.problem)
      if (known) {
        const wasLost = known.state.state === 'down'
        known.state = state
        if (state.state === 'down' && !wasLost && known.node) this.#lose(known.node)
        continue
      }
      const address = addressOf({ address: Address, hostname, isManager: info.ManagerStatus?.Leader === true })
      const added: Known = { state, close: () => undefined }
      this.#known.set(info.ID, added)
      if (address) connections.push(this.#connect(added, address))
      else added.state = { ...state, problem: 'Its API has no address; set --engine-node-url' }
    }
    for (const [id, known] of this.#known) {
      if (nodes.some(({ ID }) => ID === id)) continue
      this.#known.delete(id)
      known.close()
      if (known.node) handlers.lost(known.node)
    }
    const seen = JSON.stringify(this.nodes())
    if (seen !== this.#last) this.changes.emit('nodes')
    this.#last = seen
    return connections
  }

  #lose(node: SwarmNode) {
    logError({ message: `Node ${node.hostname} of the swarm is down` })
    this.#options.handlers.lost(node)
  }

  #connect(known: Known, address: EngineAddress): Promise<void> {
    const { serviceId, handlers } = this.#options
    const { id, hostname } = known.state
    const node: SwarmNode = { id, hostname, api: new EngineApi(address) }
    known.node = node
    const setProblem = (problem: string | undefined) => {
      const { problem: _, ...state } = known.state
      known.state = problem === undefined ? state : { ...state, problem }
      this.changes.emit('nodes')
    }
    const events = followEvents(node.api, serviceId, {
      event: (event) => handlers.event(node, event),
      async connected() {
        await handlers.connected(node)
        setProblem(undefined)
      },
      lost(problem) {
        logError({ message: problem })
        setProblem(problem)
      },
    })
    known.close = () => events.close()
    return events.connected.catch(logFailure(`Could not connect to node ${hostname}`))
  }
}

export const addressesOf = ({ Status, ManagerStatus, Description }: NodeInfo) => {
  // A manager's status may have 0.0.0.0.
  const manager = ManagerStatus?.Addr?.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  const isWildcard = ['', '0.0.0.0', '::'].includes(Status.Addr ?? '')
  return { Address: (isWildcard ? manager : Status.Addr) ?? '', hostname: Description.Hostname }
}

const stateOf = (
  { ID, Spec, Status, Description }: NodeInfo,
  address: string,
  reserved = { cpuCores: 0, memoryBytes: 0 },
  problem: string | undefined,
): ClusterNodeState => ({
  id: ID,
  hostname: Description.Hostname,
  address,
  role: Spec.Role,
  state: Status.State,
  availability: Spec.Availability,
  labels: Spec.Labels ?? {},
  cpuCores: Description.Resources.NanoCPUs / 1e9,
  memoryBytes: Description.Resources.MemoryBytes,
  reservedCpuCores: reserved.cpuCores,
  reservedMemoryBytes: reserved.memoryBytes,
  ...(problem !== undefined && { problem }),
})

// Tasks of a lost node keep their desired state, so what it had stays reserved until its devboxes are resumed elsewhere.
const reservations = (tasks: readonly TaskInfo[]) => {
  const total = new Map<string, { cpuCores: number; memoryBytes: number }>()
  for (const { NodeID, Spec, Status } of tasks) {
    if (!NodeID || endedStates.includes(Status.State)) continue
    const { NanoCPUs = 0, MemoryBytes = 0 } = Spec.Resources?.Reservations ?? {}
    const sum = total.get(NodeID) ?? { cpuCores: 0, memoryBytes: 0 }
    total.set(NodeID, { cpuCores: sum.cpuCores + NanoCPUs / 1e9, memoryBytes: sum.memoryBytes + MemoryBytes })
  }
  return total
}

export interface NodeInfo {
  ID: string
  Version: { Index: number }
  Spec: { Role: string; Availability: string; Labels?: Record<string, string> | null }
  Description: { Hostname: string; Resources: { NanoCPUs: number; MemoryBytes: number } }
  Status: { State: string; Addr?: string }
  ManagerStatus?: { Leader?: boolean; Addr?: string }
}

interface TaskInfo {
  NodeID?: string
  Status: { State: string }
  Spec: {
    ContainerSpec?: { Labels?: Record<string, string> }
    Resources?: { Reservations?: { NanoCPUs?: number; MemoryBytes?: number } }
  }
}
