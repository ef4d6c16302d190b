import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { logFailure } from '#lib/service/kit/log.ts'
import type { BoxSpec, Network } from '../box.ts'
import { type EngineApi, EngineResponseError } from '../container/engine-api.ts'
import { proxyVariables } from '../network/outbound.ts'
import type { Attachment, Placement, Task } from './devbox-service.ts'
import type { SwarmNode, SwarmNodes } from './nodes.ts'
import { createProxies, isProxy } from './proxy/proxies.ts'
import { signGrant } from './proxy/token.ts'

interface Options {
  manager: EngineApi
  nodes: Pick<SwarmNodes, 'nodes' | 'find'>
  serviceId: string
  placement: readonly string[]
}

type Report = (sentence: string) => void
type Spec = Pick<BoxSpec, 'devboxId' | 'hostname' | 'network' | 'group' | 'privateNetwork' | 'signal'>

export interface DevboxNetworks {
  /** Network attachments of the devbox's service. */
  attachments: Attachment[]
  /** Call once the container runs. Waits for the proxy on its node. */
  open(placement: Pick<Placement, 'containerId' | 'task'>, node: SwarmNode): Promise<OpenNetworks>
}

export interface OpenNetworks {
  /** Environment of commands. Changes with `setOnline`. */
  env: Record<string, string>
  setOnline(isOnline: boolean): Promise<void>
  notEnforced: readonly string[]
}

interface PoolNetwork {
  id: string
  batch: number
}

interface Member {
  network: PoolNetwork
  group: string | undefined
  /** Its container runs. */
  isOpen: boolean
  blocked(target: string): void
}

const firstBatch = 2
const maxBatch = 16
const maxReported = 1000
const pollMs = 3000
const keepFreeMs = 10 * 60_000
const closeMs = 10_000
const ended = ['complete', 'failed', 'shutdown', 'rejected', 'remove']

/**
 * The networks of devboxes. Each devbox has an internal overlay of its own, on which it reaches nothing but a proxy on
 * each node. A new overlay costs a node 300 to 700 ms, so a pool of them exists on all nodes before devboxes need them.
 * Devboxes of a group also share an internal overlay.
 */
export const createSwarmNetworks = ({ manager, nodes, serviceId, placement }: Options) => {
  const prefix = `devdeck-${serviceId.slice(0, 12)}`
  const closed = new AbortController()
  const batches = new Map<number, { networks: PoolNetwork[]; lastUsedMs: number }>()
  /** The network that has been free for longest is used first. */
  let free: PoolNetwork[] = []
  /** Networks whose last devbox may still run. */
  const leaving = new Set<PoolNetwork>()
  const members = new Map<string, Member>()
  const groups = new Map<string, Promise<string>>()

  const proxies = createProxies({
    manager,
    serviceId,
    placement,
    nodes: () =>
      nodes.nodes().flatMap(({ id, hostname, address, state }) => {
        const node = nodes.find(id)
        return node ? [{ id, hostname, address, api: node.api, isReady: state === 'ready' }] : []
      }),
    onBlocked: (devboxId, target) => members.get(devboxId)?.blocked(target),
  })

  const listNetworks = () =>
    manager.json<NetworkInfo[]>('GET', '/networks', {
      query: { filters: { label: [`devdeck.service=${serviceId}`] } },
    })

  const createNetwork = async (name: string, labels: Record<string, string>): Promise<string> => {
    const body = {
      Name: `${prefix}-${name}`,
      Driver: 'overlay',
      Internal: true,
      Labels: { 'devdeck.service': serviceId, ...labels },
    }
    try {
      return (await manager.json<{ Id: string }>('POST', '/networks/create', { body })).Id
    } catch (error) {
      const found = await manager.json<NetworkInfo>('GET', `/networks/${body.Name}`).catch(() => undefined)
      if (!found) throw error
      return found.Id
    }
  }

  /** Has no effect while something uses it. */
  const removeNetwork = (id: string) =>
    manager.json('DELETE', `/networks/${id}`).then(
      () => true,
      (error: unknown) => error instanceof EngineResponseError && error.status === 404,
    )

  const reconcileProxies = async () => {
    const networkIds = [...batches].map(([batch, { networks }]) => [batch, networks.map(({ id }) => id)] as const)
    await proxies.reconcile(new Map(networkIds))
  }

  const poolSize = () => [...batches.values()].reduce((sum, { networks }) => sum + networks.length, 0)

  let growing: Promise<void> | undefined
  const grow = () => {
    growing ??= addBatch().finally(() => {
      growing = undefined
    })
    return growing
  }

  const addBatch = async () => {
    const batch = Math.max(0, ...batches.keys()) + 1
    const size = Math.min(Math.max(2 * poolSize(), firstBatch), maxBatch)
    const names = Array.from({ length: size }, () => `pool-${batch}-${randomUUID().slice(0, 8)}`)
    const ids = await Promise.all(names.map((name) => createNetwork(name, { 'devdeck.pool': String(batch) })))
    const networks = ids.map((id) => ({ id, batch }))
    batches.set(batch, { networks, lastUsedMs: Date.now() })
    free.push(...networks)
    void reconcileProxies().catch(logFailure('Could not start network proxies'))
  }

  const take = async (): Promise<PoolNetwork> => {
    let network = free.shift()
    while (!network) {
      await grow()
      network = free.shift()
    }
    if (free.length < Math.max(1, poolSize() / 4)) grow().catch(logFailure('Could not create networks'))
    return network
  }

  let recovered: Promise<void> | undefined
  const recover = () => {
    recovered ??= findPool()
    recovered.catch(() => {
      recovered = undefined
    })
    return recovered
  }

  const findPool = async () => {
    // Others that are listed may have been removed: the manager's own node has them until their containers have ended.
    const existing = await proxies.networkIds()
    for (const { Id, Labels } of await listNetworks()) {
      if (!existing.has(Id) || Labels['devdeck.pool'] === undefined) continue
      const batch = Number(Labels['devdeck.pool'])
      const network = { id: Id, batch }
      const found = batches.get(batch)
      batches.set(batch, { networks: [...(found?.networks ?? []), network], lastUsedMs: Date.now() })
      leaving.add(network)
    }
    if (batches.size === 0) await grow()
    await update()
    void follow()
  }

  /** Frees networks, follows the proxies of all nodes, and removes what has not been used for long. */
  const update = async () => {
    const left = [...leaving]
    const open = [...members].filter(([, { isOpen }]) => isOpen)
    const filters = { label: [`devdeck.service=${serviceId}`] }
    const tasks = await manager.json<Task[]>('GET', '/tasks', { query: { filters } })
    proxies.follow(tasks.filter(isProxy))
    const running = tasks.filter((task) => !isProxy(task) && !ended.includes(task.Status.State))
    const used = new Set(running.flatMap((task) => task.NetworksAttachments?.map(({ Network }) => Network.ID) ?? []))
    // The service of a suspended devbox may stay to keep its disk.
    for (const [devboxId, member] of open)
      if (!used.has(member.network.id) && members.get(devboxId) === member) leave(devboxId)
    for (const network of left) {
      if (used.has(network.id) || !leaving.delete(network)) continue
      free.push(network)
      const batch = batches.get(network.batch)
      if (batch) batch.lastUsedMs = Date.now()
    }
    await reconcileProxies()
    await removeUnused(used)
  }

  const removeUnused = async (used: ReadonlySet<string>) => {
    const target = Math.max(firstBatch, poolSize() / 2)
    for (const [batch, { networks, lastUsedMs }] of [...batches].slice(1)) {
      if (Date.now() - lastUsedMs < keepFreeMs || networks.some((network) => !free.includes(network))) continue
      if (free.length - networks.length < target) continue
      free = free.filter((network) => network.batch !== batch)
      batches.delete(batch)
    }
    for (const { Id, Labels } of await listNetworks()) {
      const { 'devdeck.pool': batch, 'devdeck.group': group } = Labels
      const isNeeded =
        batch === undefined
          ? [...members.values()].some((member) => member.group === group)
          : growing || [...batches.values()].some(({ networks }) => networks.some(({ id }) => id === Id))
      if (isNeeded || used.has(Id)) continue
      if (group !== undefined) groups.delete(group)
      await removeNetwork(Id)
    }
  }

  const follow = async () => {
    const { signal } = closed
    while (!signal.aborted) {
      await delay(pollMs, undefined, { ref: false, signal }).catch(() => undefined)
      // The manager's own problems are logged where its nodes are polled.
      if (!signal.aborted) await update().catch(() => undefined)
    }
  }

  const groupNetwork = (group: string) => {
    const id = groups.get(group) ?? createNetwork(`group-${group}`, { 'devdeck.group': group })
    groups.set(group, id)
    id.catch(() => groups.delete(group))
    return id
  }

  const networksOf = async (spec: Spec, network: PoolNetwork, report: Report): Promise<DevboxNetworks> => {
    const { devboxId, group, hostname, privateNetwork } = spec
    const reported = new Set<string>()
    const blocked = (target: string) => {
      if (reported.has(target) || reported.size >= maxReported) return
      reported.add(target)
      report(`Blocked: ${target}`)
    }
    const member: Member = { network, group, isOpen: false, blocked }
    members.set(devboxId, member)
    const groupId = group === undefined ? undefined : await groupNetwork(group)
    const attachments: Attachment[] = [
      { Target: network.id },
      ...(groupId === undefined ? [] : [{ Target: groupId, Aliases: [hostname] }]),
    ]

    const variables = async (allowed: Exclude<Network, 'none'>, address: string, node: SwarmNode) => {
      if (!(await proxies.untilListening(network.batch, node.id, spec.signal)))
        report(`The network proxy of node ${node.hostname} is not running yet`)
      const rules = { privateNetwork, ...(allowed !== 'public' && { hostnames: allowed.hostnames }) }
      const token = signGrant(proxies.key(), { devboxId, address, rules })
      return proxyVariables(proxies.urlOf(node.id, token))
    }

    const open: DevboxNetworks['open'] = async ({ containerId, task }, node) => {
      member.isOpen = true
      const env: Record<string, string> = {}
      const addressOn = (id: string) =>
        task.NetworksAttachments?.find(({ Network }) => Network.ID === id)?.Addresses[0]?.replace(/\/.*/, '') ?? ''
      const change = (action: 'connect' | 'disconnect', target: string, body: object) =>
        node.api.json('POST', `/networks/${target}/${action}`, { body: { Container: containerId, ...body } })
      const allow = async (network: Exclude<Network, 'none'>) =>
        void Object.assign(env, await variables(network, addressOn(attachments[0]?.Target ?? ''), node))
      let isOnline = true
      const setOnline = async (wanted: boolean) => {
        if (!wanted) for (const name of Object.keys(env)) delete env[name]
        if (wanted === isOnline) return
        // The swarm gave the address to the container's task; any other may belong to another node.
        for (const { Target, Aliases = [] } of attachments)
          if (wanted)
            await change('connect', Target, {
              EndpointConfig: { Aliases, IPAMConfig: { IPv4Address: addressOn(Target) } },
            })
          else
            await change('disconnect', Target, { Force: true }).catch((error: Error) => {
              if (!error.message.includes('is not connected')) throw error
            })
        isOnline = wanted
        if (wanted) await allow(spec.network === 'none' ? 'public' : spec.network)
      }
      if (spec.network !== 'none') await allow(spec.network)
      else if (group === undefined) await setOnline(false)
      const notEnforced = spec.network === 'public' ? ['Network: outbound goes through an HTTP proxy only'] : []
      return { env, setOnline, notEnforced }
    }
    return { attachments, open }
  }

  /** Its service was removed, or was never created. */
  const leave = (devboxId: string) => {
    const member = members.get(devboxId)
    if (member) leaving.add(member.network)
    members.delete(devboxId)
  }

  return {
    /** Networks for the service of a devbox. */
    async join(spec: Spec, report: Report): Promise<DevboxNetworks> {
      await recover()
      leave(spec.devboxId)
      return networksOf(spec, await take(), report)
    },
    /** After a restart of this service: those of a container that still runs. */
    async adopt(spec: Spec, { NetworksAttachments = [] }: Task, report: Report) {
      await recover()
      const ids = NetworksAttachments.map(({ Network }) => Network.ID)
      const network = [...leaving].find(({ id }) => ids.includes(id))
      if (!network) throw new Error(`devbox ${spec.devboxId} has no network of its own`)
      leaving.delete(network)
      return networksOf(spec, network, report)
    },
    leave,
    recover,
    /** Removes the networks unless services use them. */
    async close() {
      closed.abort()
      proxies.close()
      const filters = { label: [`devdeck.service=${serviceId}`, 'devdeck.devbox'] }
      const devboxes = await manager.json<object[]>('GET', '/services', { query: { filters } }).catch(() => undefined)
      if (devboxes?.length !== 0) return
      await growing?.catch(() => undefined)
      await proxies.removeAll()
      const left = new Set((await listNetworks()).map(({ Id }) => Id))
      for (const giveUpAtMs = Date.now() + closeMs; left.size > 0 && Date.now() < giveUpAtMs; await delay(100))
        for (const id of left) if (await removeNetwork(id)) left.delete(id)
    },
  }
}

export type SwarmNetworks = ReturnType<typeof createSwarmNetworks>

interface NetworkInfo {
  Id: string
  Labels: Record<string, string>
}
