import type { ContainerInspectInfo } from 'dockerode'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logError, logFailure } from '#lib/service/kit/log.ts'
import type { BoxEngine, BoxSpec, Cluster, ClusterNodeState, ImageRun, Images, WaitingDevbox } from '../box.ts'
import { removeUnfinishedCommits } from '../container/commit.ts'
import { ContainerBox, stopContainer } from '../container/container-box.ts'
import { putRunFiles } from '../container/container-run.ts'
import { boxOptions, type EngineInfo, install, runOf } from '../container/devbox-container.ts'
import type { EngineAddress, EngineVariables } from '../container/engine-address.ts'
import { EngineApi, EngineResponseError, ifMissing } from '../container/engine-api.ts'
import { createFactReader, type ImageFacts } from '../container/image-facts.ts'
import { putFiles } from '../container/install.ts'
import { untilReached } from '../container/services.ts'
import { NodeLost } from '../node-lost.ts'
import { devboxService, goFile, type Reserved, reservationOf, taskOf, untilPlaced } from './devbox-service.ts'
import { createSwarmDisks } from './disks.ts'
import { untilHealthy } from './healthcheck.ts'
import { createSwarmImages, type ImageReference } from './images.ts'
import { createSwarmNetworks } from './networks.ts'
import { type SwarmNode, SwarmNodes } from './nodes.ts'
import { isTooLong } from './proxy/token.ts'
import { createRegistry } from './registry.ts'
import { readCredentials, registryOf } from './registry-credentials.ts'
import { createSavedImages } from './saved-images.ts'
import { createServiceContainers } from './service-containers.ts'

export interface SwarmOptions {
  manager: EngineAddress
  addressOf: (node: { address: string; hostname: string; isManager: boolean }) => EngineAddress | undefined
  registry: string | undefined
  /** The environment variables that locate registry credentials. */
  variables: EngineVariables
  placement: readonly string[]
  reserved: Reserved
  serviceId: string
  /** Image of devboxes that don't choose one. */
  defaultImage: string
}

export type SwarmEngine = BoxEngine & { images: Images; cluster: Cluster }

type Report = (sentence: string) => void

const maxPingMs = 5000
const maxInspectMs = 10_000

/** Runs devboxes as services of a Docker swarm. The swarm places them; commands go to the node that holds the container. */
export const createSwarmEngine = ({
  manager: managerAddress,
  addressOf,
  registry: registryAddress,
  variables,
  placement,
  reserved,
  serviceId,
  defaultImage,
}: SwarmOptions): SwarmEngine => {
  const manager = new EngineApi(managerAddress)
  const prefix = `devdeck-${serviceId.slice(0, 12)}`
  const serviceName = (devboxId: string): string => `${prefix}-${devboxId}`
  const boxes = new Map<string, ContainerBox>()
  const starting = new Set<string>()
  /** Devboxes with service containers. */
  const withServices = new Set<string>()
  const waiting = new Map<string, WaitingDevbox>()
  /** Devboxes that an earlier service left running, until they are adopted. */
  const left = new Set<string>()
  /** Devboxes whose services stay; unknown until `recover`. */
  let kept: Set<string> | undefined
  let isKnown: (devboxId: string) => boolean = () => false
  const reported = new Set<string>()
  const factReaders = new Map<string, (imageId: string, containerId: string) => Promise<ImageFacts>>()
  const infos = new Map<string, Promise<EngineInfo>>()

  const nodes = new SwarmNodes({
    manager,
    addressOf,
    serviceId,
    registry: registryAddress,
    placement,
    waiting: () => [...waiting.values()],
    reservationOf: (limits) => reservationOf(limits, reserved),
    handlers: {
      event(node, event) {
        boxes.get(event.containerId)?.handle(event)
        if (event.action === 'destroy') tidy(node)
      },
      async connected(node) {
        await reconcile(node)
        await removeUnfinishedCommits(node.api, serviceId)
        tidy(node)
      },
      lost(node) {
        disks.lost(node.id)
        for (const box of boxes.values())
          if (box.node?.id === node.id) box.lost(`Node ${node.hostname} was lost`, 'node_lost')
      },
    },
  })
  const credentials = (host: string) => readCredentials(host, variables)
  const registry =
    registryAddress === undefined ? undefined : createRegistry({ address: registryAddress, manager, credentials })
  const stored = { nodes: () => nodes.reachable(), registry, prefix, serviceId }
  const images = createSwarmImages({ ...stored, credentials })
  const serviceContainers = createServiceContainers({
    manager,
    serviceId,
    reference: (image, signal) => images.reference(image, signal),
    credentialsOf: (image) => credentials(registryOf(image)),
  })
  const saved = createSavedImages({ ...stored, unreachable: () => nodes.unreachable() })
  const networks = createSwarmNetworks({ manager, nodes, serviceId, placement })

  const readFacts = ({ id, api }: SwarmNode, imageId: string, containerId: string) => {
    const read = factReaders.get(id) ?? createFactReader(api)
    factReaders.set(id, read)
    return read(imageId, containerId)
  }

  const readInfo = ({ id, api }: SwarmNode) => {
    const info = infos.get(id) ?? api.json<EngineInfo>('GET', '/info')
    infos.set(id, info)
    info.catch(() => infos.delete(id))
    return info
  }

  const boxOn = (devboxId: string) => [...boxes.values()].find((box) => box.devboxId === devboxId)
  const isActive = (devboxId: string) => starting.has(devboxId) || boxOn(devboxId) !== undefined

  /** Removes what unknown devboxes left on a node, and stops what runs without a session. */
  const reconcile = async (node: SwarmNode): Promise<void> => {
    if (!kept) return
    const filters = { label: [`devdeck.service=${serviceId}`, 'devdeck.devbox'] }
    // The list may miss the containers of devboxes that start in the meantime.
    const started = [...boxes.values()].filter((box) => box.node?.id === node.id && !starting.has(box.devboxId))
    const containers = await node.api.json<ContainerSummary[]>('GET', '/containers/json', {
      query: { all: true, filters },
    })
    const running = new Set(containers.filter(({ State }) => State === 'running').map(({ Id }) => Id))
    for (const box of started)
      if (!running.has(box.containerId))
        box.lost(`The container engine on node ${node.hostname} restarted`, 'node_lost')
    for (const { Id, Labels } of containers) {
      const devboxId = Labels['devdeck.devbox'] ?? ''
      if (starting.has(devboxId) || left.has(devboxId)) continue
      if (!kept.has(devboxId) && isKnown(devboxId)) await removeService(devboxId)
      else if (running.has(Id) && !boxes.has(Id)) await stopContainer(node.api, Id)
    }
    serviceContainers.remove((devboxId) => !isActive(devboxId), [node])
  }

  /** The manager's side of `reconcile`: services without a container on a node that can be reached. */
  const removeUnknown = async (): Promise<void> => {
    const filters = { label: [`devdeck.service=${serviceId}`, 'devdeck.devbox'] }
    const services = await manager.json<{ Spec: { Name: string; Labels: Record<string, string> } }[]>(
      'GET',
      '/services',
      { query: { filters } },
    )
    for (const { Spec } of services) {
      const devboxId = Spec.Labels['devdeck.devbox'] ?? ''
      if (kept?.has(devboxId) || starting.has(devboxId)) continue
      if (isKnown(devboxId)) await removeService(devboxId)
      else if (!reported.has(devboxId)) {
        reported.add(devboxId)
        const message = `Service ${Spec.Name} belongs to no devbox in the database and is kept. Recover the devbox, or remove the service`
        logError({ level: 'warn', message })
      }
    }
  }

  const removeService = async (devboxId: string): Promise<void> => {
    await deleteService(devboxId)
    networks.leave(devboxId)
    if (withServices.delete(devboxId)) serviceContainers.remove((id) => id === devboxId, nodes.reachable())
  }

  const deleteService = (devboxId: string) =>
    manager.json('DELETE', `/services/${serviceName(devboxId)}`).catch(ifMissing)

  const inspect = ({ api }: SwarmNode, containerId: string) =>
    api.json<ContainerInspectInfo>('GET', `/containers/${containerId}/json`, { timeoutMs: maxInspectMs })

  /** The container of a devbox, running or not, if its node can be reached. */
  const findContainer = async (devboxId: string) => {
    const task = await taskOf(manager, serviceName(devboxId)).catch(ifMissing)
    const containerId = task?.Status.ContainerStatus?.ContainerID
    const node = task?.NodeID === undefined ? undefined : nodes.find(task.NodeID)
    if (!node || !containerId || nodes.isSilent(node.id)) return undefined
    const container = await inspect(node, containerId).catch((error: unknown) => {
      if (error instanceof ServiceError) return undefined
      return ifMissing(error)
    })
    return container && { node, container, task }
  }

  /** The node that has the container of a devbox, running or not. */
  const nodeOf = async (devboxId: string): Promise<ClusterNodeState | undefined> => {
    const task = await taskOf(manager, serviceName(devboxId)).catch(ifMissing)
    return nodes.nodes().find(({ id }) => id === task?.NodeID)
  }

  const responds = async (nodeId: string): Promise<boolean> => {
    const node = nodes.find(nodeId)
    if (!node || nodes.isSilent(nodeId)) return false
    return node.api.json('GET', '/_ping', { timeoutMs: maxPingMs }).then(
      () => true,
      () => false,
    )
  }

  const containerOf = async (devboxId: string) => {
    const box = boxOn(devboxId)
    const node = box?.node && nodes.find(box.node.id)
    if (box && node) return { node, containerId: box.containerId }
    const found = await findContainer(devboxId)
    return found && { node: found.node, containerId: found.container.Id }
  }

  const disks = createSwarmDisks({
    saved,
    hasRegistry: registry !== undefined,
    containerOf,
    hasService: async (devboxId) =>
      (await manager.json('GET', `/services/${serviceName(devboxId)}`).catch(ifMissing)) !== undefined,
    removeService: (devboxId) => removeService(devboxId),
    isActive,
  })

  const tidy = (node: SwarmNode) => {
    saved.tidy(node).catch(logFailure(`Could not remove unused images from node ${node.hostname}`))
  }

  const imageFor = async (spec: BoxSpec, report: Report): Promise<ImageReference> => {
    const { devboxId, origin, hasRun, lastSnapshotId, signal } = spec
    if (hasRun) {
      const { image, loss } = await disks.continue(devboxId, lastSnapshotId, signal)
      if (!image) throw new Error('its disk was lost with its node, and there is no snapshot of it')
      if (loss !== undefined) report(loss)
      return image
    }
    if (origin.kind === 'snapshot') {
      const snapshot = await disks.ofSnapshot(origin.snapshotId)
      if (snapshot) return snapshot
      throw new ServiceError('internal', `The data of snapshot ${origin.snapshotId} is missing from the swarm`, {
        shouldRetry: false,
      })
    }
    if (origin.kind !== 'image' && origin.kind !== 'empty')
      throw new ServiceError('not_implemented', 'Containers require an image', { shouldRetry: false })
    return images.reference(origin.kind === 'image' ? origin.image : defaultImage, signal)
  }

  const create = async (spec: BoxSpec, reference: ImageReference, report: Report) => {
    const { devboxId, signal } = spec
    if (runOf(spec)?.services) withServices.add(devboxId)
    const services = await serviceContainers.prepare(spec)
    const joined = await networks.join(spec, report)
    joined.attachments.push(...(services?.attachments ?? []))
    const body = devboxService(spec, {
      name: serviceName(devboxId),
      image: reference.image,
      config: reference.inspect.Config,
      networks: joined.attachments,
      reserved,
      constraints: [
        ...placement,
        ...(spec.placement ?? []),
        ...[reference.nodeId, ...(services?.nodeIds ?? [])].flatMap((id) => (id === undefined ? [] : `node.id==${id}`)),
      ],
    })
    // Not aborted: the swarm would still create it.
    const post = () => manager.json('POST', '/services/create', { body, auth: reference.auth })
    await post().catch(async (error: unknown) => {
      if (!(error instanceof EngineResponseError) || error.status !== 409) throw error
      await deleteService(devboxId)
      return post()
    })
    let lastProblem: string | undefined
    try {
      const placed = await untilPlaced(manager, serviceName(devboxId), {
        signal,
        waits(problem) {
          if (problem === undefined) waiting.delete(devboxId)
          else {
            const isForRoom = /insufficient resources/.test(problem)
            waiting.set(devboxId, { devboxId, isForRoom, ...reservationOf(spec.limits, reserved) })
            spec.onWaiting?.()
          }
          if (problem !== undefined && problem !== lastProblem) report(`Waiting for the swarm: ${problem}`)
          lastProblem = problem ?? lastProblem
        },
      })
      const node = nodes.find(placed.nodeId)
      if (!node) throw new Error(`the swarm placed it on node ${placed.nodeId}, whose API can't be reached`)
      return { node, ...placed, joined, services, image: reference.inspect }
    } finally {
      waiting.delete(devboxId)
    }
  }

  const boxOf = async (
    spec: BoxSpec,
    { node, containerId, task, joined, image }: Omit<Awaited<ReturnType<typeof create>>, 'nodeId' | 'services'>,
    facts: ImageFacts,
  ): Promise<ContainerBox> => {
    const { notEnforced, ...network } = await joined.open({ containerId, task }, node)
    const box = new ContainerBox({
      api: node.api,
      containerId,
      ...boxOptions(spec, image, facts, await readInfo(node)),
      outlivesService: true,
      node: { id: node.id, hostname: node.hostname },
      ...network,
      onEnd: () => boxes.delete(containerId),
    })
    box.notEnforced.push(...notEnforced)
    boxes.set(containerId, box)
    return box
  }

  /** Lets the container run what the image of a task runs, with its services. */
  const startRun = async (
    box: ContainerBox,
    { node, containerId, services, image }: Awaited<ReturnType<typeof create>>,
    { healthcheck }: ImageRun,
    { network, signal }: BoxSpec,
  ): Promise<void> => {
    const { api } = node
    const start = () => putFiles(api, containerId, [{ path: goFile, mode: 0o644, content: '' }], signal)
    const healthy = () => untilHealthy(box, healthcheck, image.Config, signal)
    if (services) {
      box.ended
        .then(() => serviceContainers.stop(node, box.devboxId))
        .catch(logFailure(`Could not stop the services of devbox ${box.devboxId}`))
      const main = { id: containerId, isOnline: network !== 'none', start, untilHealthy: healthy }
      return services.up(node, (await readInfo(node)).NCPU, main)
    }
    await start()
    await untilReached(api, containerId, { name: 'The container', condition: 'started' }, signal)
    await healthy()
  }

  const start = async (spec: BoxSpec, report: Report): Promise<ContainerBox> => {
    const { devboxId, hasRun, signal } = spec
    const run = runOf(spec)
    let node: SwarmNode | undefined
    // Until this resolves, the only copy of the disk may be in the container of the earlier service.
    const reference = await imageFor(spec, report)
    try {
      const placed = await create(spec, reference, report)
      const { containerId, image } = placed
      node = placed.node
      const { api } = node
      await untilReached(api, containerId, { name: 'The container', condition: 'started' }, signal)
      const facts = await readFacts(node, image.Id, containerId)
      await install(api, containerId, spec, facts, image)
      if (run) await putRunFiles(api, containerId, run, signal)
      const box = await boxOf(spec, placed, facts)
      signal.throwIfAborted()
      if (hasRun) await box.emptyRunFolder()
      if (run) await startRun(box, placed, run, spec)
      return box
    } catch (error) {
      const started = boxOn(devboxId)
      if (started) boxes.delete(started.containerId)
      if (started && node && !isUnavailable(error))
        await stopContainer(node.api, started.containerId).catch(logFailure('Could not stop a container'))
      await removeService(devboxId).catch(logFailure(`Could not remove the service of devbox ${devboxId}`))
      if (node && isUnavailable(error)) throw new NodeLost(`Node ${node.hostname} was lost`, { cause: error })
      throw error
    }
  }

  return {
    isolation: 'swarm',
    description:
      'Isolated by a container on a node of the swarm: separate users, processes, network, files and host name',
    images,
    disks: {
      ...disks,
      remove(devboxId) {
        kept?.delete(devboxId)
        left.delete(devboxId)
        return disks.remove(devboxId)
      },
    },
    cluster: nodes,
    userProblem: () => undefined,
    connectsGroups: true,
    networkProblem: (network) =>
      typeof network === 'object' && isTooLong(network.hostnames)
        ? "allows more host names than fit in the environment of a devbox's commands"
        : undefined,
    async start(spec, report) {
      kept?.add(spec.devboxId)
      left.delete(spec.devboxId)
      starting.add(spec.devboxId)
      try {
        return await start(spec, report)
      } finally {
        starting.delete(spec.devboxId)
      }
    },
    async adopt(spec, report) {
      const { devboxId } = spec
      const task = await taskOf(manager, serviceName(devboxId)).catch(ifMissing)
      const containerId = task?.Status.ContainerStatus?.ContainerID
      const node = task?.NodeID === undefined ? undefined : nodes.find(task.NodeID)
      const state = nodes.nodes().find(({ id }) => id === task?.NodeID)
      if (containerId && (!node || state?.state === 'down'))
        return { cause: `Node ${state?.hostname ?? task?.NodeID} was lost`, reason: 'node_lost' }
      // Rejects if the node can't be reached.
      const container = node && containerId ? await inspect(node, containerId).catch(ifMissing) : undefined
      if (!task || !node || !container?.State.Running) {
        left.delete(devboxId)
        return undefined
      }
      const joined = await networks.adopt(spec, task, report)
      const image = await node.api.json<ImageReference['inspect']>('GET', `/images/${container.Image}/json`)
      const facts = await readFacts(node, container.Image, container.Id)
      const box = await boxOf(spec, { node, containerId: container.Id, task, joined, image }, facts)
      left.delete(devboxId)
      return box
    },
    async requireAvailable() {
      const problem = nodes.managerProblem()
      if (problem) throw new ServiceError('unavailable', problem.message, { retryAfterSeconds: 5 })
      await manager.json('GET', '/_ping', { timeoutMs: maxPingMs })
    },
    async requireDisk(devboxId, lastSnapshotId) {
      if (await findContainer(devboxId)) return
      const node = await nodeOf(devboxId)
      // It may be back soon, with a newer disk than any copy.
      if (node && node.state !== 'down' && !(await responds(node.id)))
        throw new ServiceError('unavailable', `Node ${node.hostname}, which has the devbox's disk, can't be reached`, {
          retryAfterSeconds: 10,
        })
      if (await disks.isSaved(devboxId)) return
      if (lastSnapshotId !== undefined && (await disks.hasSnapshot(lastSnapshotId))) return
      const problem =
        node?.state === 'down'
          ? `The disk of the devbox is on node ${node.hostname}, which is down, and the devbox has no snapshot. Resume it when the node is back`
          : 'The disk of the devbox is lost, and the devbox has no snapshot'
      throw new ServiceError('invalid_argument', problem, { shouldRetry: false })
    },
    async recover(devboxIds, isKnownDevbox, running = new Set()) {
      kept = new Set(devboxIds)
      for (const id of running) left.add(id)
      isKnown = isKnownDevbox
      const problem = await nodes.connected.then(
        () => undefined,
        (error: Error) => error,
      )
      if (problem) return
      await networks.recover()
      await removeUnknown().catch(logFailure('Could not look for services of unknown devboxes'))
      for (const node of nodes.ready())
        await reconcile(node).catch(logFailure(`Could not look for containers of unknown devboxes on ${node.hostname}`))
    },
    async close() {
      nodes.close()
      for (const box of boxes.values()) box.detach()
      await networks.close()
    },
  }
}

const isUnavailable = (error: unknown) => error instanceof ServiceError && error.code === 'unavailable'

interface ContainerSummary {
  Id: string
  State: string
  Labels: Record<string, string>
}
