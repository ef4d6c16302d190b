import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { logFailure } from '#lib/service/kit/log.ts'
import { type EngineApi, EngineResponseError, ifMissing } from '../../container/engine-api.ts'
import { splitStreams } from '../../container/exec-streams.ts'
import { jsonLines } from '../../container/json-lines.ts'
import { proxyPort } from '../../network/outbound.ts'
import { ownAddresses } from '../../network/rules.ts'
import type { Task } from '../devbox-service.ts'
import { createProxyImage } from './image.ts'
import type { ProxyLine } from './proxy.ts'

interface ProxyNode {
  id: string
  hostname: string
  address: string
  isReady: boolean
  api: EngineApi
}

interface Options {
  manager: EngineApi
  nodes(): readonly ProxyNode[]
  serviceId: string
  /** Placement constraints of all devboxes: other nodes need no proxy. */
  placement: readonly string[]
  onBlocked(devboxId: string, target: string): void
}

interface ProxyService {
  ID: string
  Version: { Index: number }
  Spec: ReturnType<typeof specOf>
}

const maxMemoryBytes = 512 * 1024 * 1024
const pollMs = 100
const startTimeoutMs = 30_000

/** A proxy per node and batch of networks, each a service bound to its node. */
export const createProxies = ({ manager, nodes, serviceId, placement, onBlocked }: Options) => {
  const image = createProxyImage()
  const prefix = `devdeck-${serviceId.slice(0, 12)}`
  const closed = new AbortController()
  const followed = new Map<string, Follower>()
  /** Nodes whose proxies are being started. */
  const starting = new Set<string>()
  const images = new Map<string, string>()
  const listening = new Set<string>()
  let hasStarted = false
  let key = ''

  const list = () =>
    manager.json<ProxyService[]>('GET', '/services', {
      query: { filters: { label: [`devdeck.service=${serviceId}`, 'devdeck.proxy'] } },
    })

  const nameOf = (batch: number, nodeId: string) => `${prefix}-proxy-${batch}-${nodeId}`

  const remove = (id: string) => manager.json('DELETE', `/services/${id}`).catch(ifMissing)

  const blocked = () => [...new Set([...nodes().map(({ address }) => address), ...ownAddresses()])].sort()

  /** Starts missing proxies of ready nodes in the background, and removes those that nothing needs. */
  const reconcile = async (batches: ReadonlyMap<number, readonly string[]>): Promise<void> => {
    const existing = await list()
    key ||= keyOf(existing[0]) ?? randomBytes(32).toString('hex')
    const byName = new Map(existing.map((service) => [service.Spec.Name, service]))
    const names = new Set(nodes().flatMap(({ id }) => [...batches.keys()].map((batch) => nameOf(batch, id))))
    await Promise.all(existing.filter(({ Spec }) => !names.has(Spec.Name)).map(({ ID }) => remove(ID)))
    for (const node of nodes()) {
      if (!node.isReady) images.delete(node.id)
      if (!node.isReady || starting.has(node.id)) continue
      starting.add(node.id)
      startAll(node, batches, byName)
        .catch(logFailure(`Could not start the network proxies of node ${node.hostname}`))
        .finally(() => starting.delete(node.id))
    }
  }

  const startAll = async (
    { id, api }: ProxyNode,
    batches: ReadonlyMap<number, readonly string[]>,
    existing: ReadonlyMap<string, ProxyService>,
  ): Promise<void> => {
    const imageId = images.get(id) ?? (await image.ensure(api))
    images.set(id, imageId)
    for (const [batch, networkIds] of batches) {
      if (closed.signal.aborted) return
      const spec = specOf({
        name: nameOf(batch, id),
        labels: { 'devdeck.service': serviceId, 'devdeck.proxy': String(batch) },
        image: imageId,
        env: [`PROXY_KEY=${key}`, `PROXY_PORT=${proxyPort}`],
        blocked: blocked(),
        constraints: [`node.id==${id}`, ...placement],
        // The engine's default network, for external access. Every node has one.
        networks: [...networkIds.map((Target) => ({ Target, Aliases: [aliasOf(id)] })), { Target: 'bridge' }],
      })
      const found = existing.get(spec.Name)
      if (found?.Spec.Labels['devdeck.spec'] === spec.Labels['devdeck.spec']) continue
      const [path, query] = found
        ? [`/services/${found.ID}/update`, { version: found.Version.Index }]
        : ['/services/create', {}]
      await manager.json('POST', path, { query, body: spec }).catch((error: unknown) => {
        // It was created since it was listed.
        if (!(error instanceof EngineResponseError) || error.status !== 409) throw error
      })
    }
  }

  /** Follows the logs of proxies, and passes changes of the blocked addresses on to them. */
  const follow = (tasks: readonly Task[]) => {
    const ids = new Set(tasks.map(({ Status }) => Status.ContainerStatus?.ContainerID))
    for (const [id, { end }] of followed) if (!ids.has(id)) end()
    watch(tasks)
    hasStarted = true
    const addresses = blocked()
    for (const follower of followed.values()) follower.block(addresses)
  }

  const watch = (tasks: readonly Task[]) => {
    const apis = new Map(nodes().map(({ id, api }) => [id, api]))
    for (const task of tasks) {
      const api = apis.get(task.NodeID ?? '')
      const id = task.Status.ContainerStatus?.ContainerID
      if (task.Status.State === 'running' && api && id && !followed.has(id)) start(task, api, id)
    }
  }

  const start = (task: Task, api: EngineApi, id: string) => {
    const place = placeOf(task)
    const ended = new AbortController()
    const signal = AbortSignal.any([ended.signal, closed.signal])
    const read = async () => {
      // A service that restarted has reported the older lines before.
      const query = { follow: true, stdout: true, stderr: true, tail: hasStarted ? 'all' : '0' }
      const { stdout, stderr } = splitStreams(await api.stream('GET', `/containers/${id}/logs`, { query, signal }))
      stderr.resume()
      if (query.tail === '0') listening.add(place)
      for await (const line of jsonLines<ProxyLine>(stdout))
        if ('listening' in line) listening.add(place)
        else onBlocked(line.devboxId, line.blocked)
    }
    let sent: readonly string[] = []
    followed.set(id, {
      end: () => ended.abort(),
      block(addresses) {
        if (isDeepStrictEqual(addresses, sent)) return
        sent = addresses
        api
          .hijack(`/containers/${id}/attach`, {}, signal, { stream: true, stdin: true })
          .then((socket) => socket.end(`${JSON.stringify(addresses)}\n`))
          .catch(() => {
            sent = []
          })
      },
    })
    // A later call follows it again if it still runs.
    read()
      .catch(() => undefined)
      .finally(() => {
        followed.delete(id)
        listening.delete(place)
      })
  }

  /** Waits until the proxy of a batch listens on a node. False if it takes too long. */
  const untilListening = async (batch: number, nodeId: string, signal: AbortSignal): Promise<boolean> => {
    const giveUpAtMs = Date.now() + startTimeoutMs
    const label = [`devdeck.service=${serviceId}`, `devdeck.proxy=${batch}`]
    const filters = { label, node: [nodeId], 'desired-state': ['running'] }
    while (!listening.has(`${batch}@${nodeId}`)) {
      if (Date.now() > giveUpAtMs) return false
      watch(await manager.json<Task[]>('GET', '/tasks', { query: { filters }, signal }))
      await delay(pollMs, undefined, { signal })
    }
    return true
  }

  return {
    reconcile,
    follow,
    untilListening,
    key: () => key,
    urlOf: (nodeId: string, token: string) => `http://devdeck:${token}@${aliasOf(nodeId)}:${proxyPort}`,
    /** Networks that proxies use. */
    networkIds: async () =>
      new Set((await list()).flatMap(({ Spec }) => Spec.TaskTemplate.Networks.map(({ Target }) => Target))),
    async removeAll() {
      await Promise.all((await list()).map(({ ID }) => remove(ID)))
    },
    close: () => closed.abort(),
  }
}

interface Follower {
  block(addresses: readonly string[]): void
  end(): void
}

export const isProxy = ({ Spec }: Task): boolean => Spec.ContainerSpec?.Labels?.['devdeck.proxy'] !== undefined

const placeOf = ({ Spec, NodeID }: Task) => `${Spec.ContainerSpec?.Labels?.['devdeck.proxy']}@${NodeID}`

const aliasOf = (nodeId: string) => `proxy-${nodeId}`

interface SpecOptions {
  name: string
  labels: Record<string, string>
  image: string
  env: string[]
  /** Running proxies learn of changes without a restart. */
  blocked: string[]
  constraints: string[]
  networks: { Target: string; Aliases?: string[] }[]
}

const specOf = ({ blocked, ...options }: SpecOptions) => {
  const spec = withoutAddresses(options)
  spec.Labels = { ...spec.Labels, 'devdeck.spec': createHash('sha256').update(JSON.stringify(spec)).digest('hex') }
  spec.TaskTemplate.ContainerSpec.Env.push(`PROXY_BLOCKED=${JSON.stringify(blocked)}`)
  return spec
}

const withoutAddresses = ({ name, labels, image, env, constraints, networks }: Omit<SpecOptions, 'blocked'>) => ({
  Name: name,
  Labels: labels,
  TaskTemplate: {
    ContainerSpec: {
      Image: image,
      Labels: labels,
      Env: env,
      ReadOnly: true,
      OpenStdin: true,
      StopGracePeriod: 1e9,
      CapabilityDrop: ['ALL'],
    },
    Resources: { Limits: { MemoryBytes: maxMemoryBytes, Pids: 64 } },
    RestartPolicy: { Condition: 'any', Delay: 1e8 },
    Placement: { Constraints: constraints },
    LogDriver: { Name: 'json-file', Options: { 'max-size': '1m', 'max-file': '1' } },
    Networks: networks,
  },
  Mode: { Replicated: { Replicas: 1 } },
  EndpointSpec: { Mode: 'dnsrr' },
})

const keyOf = (service: ProxyService | undefined): string | undefined =>
  service?.Spec.TaskTemplate.ContainerSpec.Env.find((line) => line.startsWith('PROXY_KEY='))?.slice(10)
