import type { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { devboxRefusal } from '#lib/contract/devboxes.ts'
import type { Cluster, ClusterNodeState } from '#lib/service/engine/box.ts'
import type { Evictions } from '#lib/service/evictions/evictions.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { logError, logFailure } from '#lib/service/kit/log.ts'
import { at } from '#lib/service/kit/timer.ts'
import { waitForChange } from '#lib/service/kit/wait-for-change.ts'
import type { DevboxStore } from '#lib/service/store/devboxes.ts'
import type { NodeDrainStore, StoredDrain } from '#lib/service/store/node-drains.ts'

const retryMs = 2000
const maxWaitMs = 24 * 60 * 60 * 1000

interface Options {
  cluster: Cluster
  store: NodeDrainStore
  devboxes: Pick<DevboxStore, 'find' | 'onNode' | 'countSuspendedOn'>
  evictions: Evictions
  /** Status changes of devboxes. */
  changes: EventEmitter
}

type Node = Pick<ClusterNodeState, 'id' | 'hostname' | 'availability'>
type Status = 'waiting' | 'suspending' | 'drained'

/**
 * Drains nodes of a cluster: a draining node is paused, so it gets no new devboxes; at the deadline its devboxes are
 * suspended, and once they are, the cluster drains the node. Survives a restart.
 */
export class NodeDrains {
  readonly #options: Options
  readonly #pending = new Map<string, { deadlineMs: number; canceled: AbortController }>()

  constructor(options: Options) {
    this.#options = options
    options.changes.on('status', (devboxId: string) => {
      const nodeId = this.#pending.size > 0 && options.devboxes.find(devboxId)?.node?.id
      const drain = nodeId && this.#pending.get(nodeId)
      if (drain) this.#evict(devboxId, drain.deadlineMs)
    })
  }

  recover(): void {
    for (const drain of this.#options.store.all()) this.#run(drain, 'resume')
  }

  close(): void {
    for (const { canceled } of this.#pending.values()) canceled.abort()
    this.#pending.clear()
  }

  /** Replaces an earlier drain of the node. Resolves to the number of devboxes that will be evicted. */
  async start(node: Node, deadlineMs: number): Promise<number> {
    const { cluster, store, devboxes } = this.#options
    if (node.availability === 'active') await cluster.setAvailability(node.id, 'pause')
    this.#withdraw(node.id)
    store.put({ node_id: node.id, deadline_ms: deadlineMs })
    this.#run({ node_id: node.id, deadline_ms: deadlineMs }, 'start')
    return devboxes.onNode(node.id).filter((id) => this.#evict(id, deadlineMs)).length
  }

  /** Cancels the drain with its evictions, and lets the node accept devboxes again. */
  async activate({ id }: Node): Promise<void> {
    const drain = this.#pending.get(id)
    drain?.canceled.abort()
    try {
      await this.#options.cluster.setAvailability(id, 'active')
    } catch (error) {
      if (drain) this.#run({ node_id: id, deadline_ms: drain.deadlineMs }, 'resume')
      throw error
    }
    this.#withdraw(id)
    this.#options.store.remove(id)
  }

  stateOf({ id, availability }: Node): { deadlineMs: number | null; status: Status | null } {
    const drain = this.#pending.get(id)
    if (!drain) return { deadlineMs: null, status: availability === 'drain' ? 'drained' : null }
    return { deadlineMs: drain.deadlineMs, status: Date.now() < drain.deadlineMs ? 'waiting' : 'suspending' }
  }

  #run({ node_id: id, deadline_ms: deadlineMs }: StoredDrain, how: 'start' | 'resume') {
    const canceled = new AbortController()
    this.#pending.set(id, { deadlineMs, canceled })
    this.#drain(id, deadlineMs, canceled.signal, how).catch((error: unknown) => {
      if (!canceled.signal.aborted) logFailure(`Could not drain node ${id}`)(error)
    })
  }

  async #drain(id: string, deadlineMs: number, signal: AbortSignal, how: 'start' | 'resume') {
    const { cluster, devboxes, changes, store } = this.#options
    // The service may have stopped before the node was paused.
    if (how === 'resume') await this.#setAvailability(id, 'pause', signal)
    await new Promise<void>((resolve) => {
      const cancelTimer = at(deadlineMs, resolve)
      signal.addEventListener('abort', () => resolve(cancelTimer()), { once: true })
    })
    signal.throwIfAborted()
    const check = () => devboxes.onNode(id).length === 0 || undefined
    while (!(await waitForChange({ changes, name: 'status', check, timeoutMs: maxWaitMs, signal })))
      signal.throwIfAborted()
    await this.#setAvailability(id, 'drain', signal)
    store.remove(id)
    this.#pending.delete(id)
    const hostname = cluster.nodes().find((node) => node.id === id)?.hostname ?? id
    const disks = devboxes.countSuspendedOn(id)
    const left = `. The disks of ${countOf(disks, 'suspended devbox', 'suspended devboxes')} are on it only`
    logError({ level: disks > 0 ? 'warn' : 'info', message: `Node ${hostname} is drained${disks > 0 ? left : ''}` })
  }

  /** Retries while the manager can't be reached. */
  async #setAvailability(id: string, availability: 'pause' | 'drain', signal: AbortSignal): Promise<void> {
    const { cluster } = this.#options
    for (let isFirst = true; ; isFirst = false) {
      const isKnown = cluster.nodes().some((node) => node.id === id)
      const isGone = !isKnown && cluster.nodes().length > 0
      const error = isGone || (await cluster.setAvailability(id, availability).catch((problem: unknown) => problem))
      signal.throwIfAborted()
      if (error === undefined || isGone) return
      if (isFirst) logFailure(`Could not set the availability of node ${id} to ${availability}`)(error)
      await delay(retryMs, undefined, { signal, ref: false })
    }
  }

  /** False if the devbox can't be suspended. Keeps an earlier deadline. */
  #evict(devboxId: string, deadlineMs: number): boolean {
    const { devboxes, evictions } = this.#options
    const devbox = devboxes.find(devboxId)
    if (!devbox || devboxRefusal('suspend', devbox.status)) return false
    if ((evictions.deadlineOf(devboxId) ?? Number.POSITIVE_INFINITY) > deadlineMs)
      evictions.schedule(devbox.account, { devbox_id: devboxId, eviction_deadline_ms: deadlineMs })
    return true
  }

  #withdraw(nodeId: string) {
    const { devboxes, evictions } = this.#options
    const drain = this.#pending.get(nodeId)
    if (!drain) return
    drain.canceled.abort()
    this.#pending.delete(nodeId)
    for (const id of devboxes.onNode(nodeId)) if (evictions.deadlineOf(id) === drain.deadlineMs) evictions.cancel(id)
  }
}
