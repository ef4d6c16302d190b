import type { ContainerInspectInfo, ImageInspectInfo } from 'dockerode'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logError, logFailure } from '#lib/service/kit/log.ts'
import type { BoxEnd, BoxEngine, BoxSpec, Images } from '../box.ts'
import { removeUnfinishedCommits } from './commit.ts'
import { ContainerBox, stopContainer } from './container-box.ts'
import { hostConfigOf, putRunFiles } from './container-run.ts'
import {
  boxOptions,
  capabilitiesOf,
  configFor,
  type EngineInfo,
  type Image,
  install,
  limitsOf,
  maxContainerLog,
  namesOf,
  ownerOf,
  runOf,
  serviceLimits,
} from './devbox-container.ts'
import { createContainerDisks } from './disks.ts'
import { createEgress, type EgressProxy } from './egress.ts'
import type { EngineAddress } from './engine-address.ts'
import { EngineApi, EngineResponseError, ifMissing } from './engine-api.ts'
import { followEvents } from './engine-events.ts'
import { createFactReader, type ImageFacts } from './image-facts.ts'
import { createImages } from './images.ts'
import { putFiles, serviceFiles } from './install.ts'
import { createNetwork } from './network.ts'
import { restrictNetwork } from './restrict-network.ts'
import { removeServices, Services, untilReached } from './services.ts'

export interface ContainerOptions {
  address: EngineAddress
  serviceId: string
  /** Image of devboxes that don't choose one. */
  defaultImage: string
}

export type ContainerEngine = BoxEngine & { images: Images }

const maxPingMs = 5000

/** Runs devboxes as containers through the Docker Engine API. */
export const createContainerEngine = ({ address, serviceId, defaultImage }: ContainerOptions): ContainerEngine => {
  const api = new EngineApi(address)
  const images = createImages(api, serviceId)
  // A copied data folder has the same devboxes and snapshots, but another service id.
  const prefix = `devdeck-${serviceId.slice(0, 12)}`
  const containerName = (devboxId: string): string => `${prefix}-${devboxId}`
  const snapshotImage = (snapshotId: string): string => `${prefix}-snapshot:${snapshotId}`
  const readFacts = createFactReader(api)
  const bridge = createNetwork(api, serviceId, { isInternal: false })
  const internal = createNetwork(api, serviceId, { isInternal: true })
  const egress = createEgress()
  const boxes = new Map<string, ContainerBox>()
  const starting = new Set<string>()
  /** Devboxes that an earlier service left running, until they are adopted. */
  const left = new Set<string>()
  /** Devboxes whose containers stay; unknown until `recover`. */
  let kept: Set<string> | undefined
  let isKnown: (devboxId: string) => boolean = () => false
  /** Devboxes whose containers are kept although the database has none. */
  const reported = new Set<string>()

  const listContainers = () =>
    api.json<ContainerSummary[]>('GET', '/containers/json', {
      query: { all: true, filters: { label: [`devdeck.service=${serviceId}`, 'devdeck.devbox'] } },
    })

  const isActive = (devboxId: string) =>
    starting.has(devboxId) || [...boxes.values()].some((box) => box.devboxId === devboxId)

  /** Removes containers of unknown devboxes, stops those without a session, and ends boxes that were stopped. */
  const reconcile = async (): Promise<void> => {
    if (!kept) return
    // The list may miss the containers of devboxes that start in the meantime.
    const started = [...boxes.values()].filter(({ devboxId }) => !starting.has(devboxId))
    const containers = await listContainers()
    const running = new Set(containers.filter(({ State }) => State === 'running').map(({ Id }) => Id))
    for (const box of started)
      if (!running.has(box.containerId))
        box.lost(`The container engine at ${api.url} restarted and stopped the container`)
    for (const { Id, Labels } of containers) {
      const devboxId = Labels['devdeck.devbox'] ?? ''
      if (starting.has(devboxId) || left.has(devboxId)) continue
      if (!kept.has(devboxId) && isKnown(devboxId)) await removeContainer(Id)
      else if (running.has(Id) && !boxes.has(Id)) await stopContainer(api, Id)
      if (kept.has(devboxId) || isKnown(devboxId) || reported.has(devboxId)) continue
      reported.add(devboxId)
      const message = `Container ${containerName(devboxId)} belongs to no devbox in the database and is kept. Recover the devbox, or remove the container`
      logError({ level: 'warn', message })
    }
    await removeServices(api, serviceId, (devboxId) => !isActive(devboxId))
    if (containers.length === 0 && starting.size === 0 && boxes.size === 0) await removeNetworks()
  }

  const removeNetworks = async () => {
    egress.close()
    await Promise.all([bridge.remove(), internal.remove()])
  }

  const networkFor = ({ network }: BoxSpec) =>
    network === 'none' ? undefined : network === 'public' ? bridge : internal

  const removeContainer = async (id: string): Promise<void> => {
    const found = await inspect(id).catch(ifMissing)
    if (!found) return
    await api.json('DELETE', `/containers/${id}`, { query: { force: true, v: true } }).catch((error: unknown) => {
      // 409: its removal is in progress.
      if (!(error instanceof EngineResponseError) || ![404, 409].includes(error.status)) throw error
    })
    await images.removeUnused(found.Image)
  }

  let wasLost = false
  const disks = createContainerDisks(api, {
    serviceId,
    containerOf: containerName,
    snapshotImage,
    removeImage: images.remove,
    async remove(devboxId) {
      kept?.delete(devboxId)
      left.delete(devboxId)
      // Otherwise the next connection removes it.
      if (wasLost) return
      await removeContainer(containerName(devboxId)).catch(
        logFailure(`Could not remove the container of devbox ${devboxId}`),
      )
    },
  })

  const events = followEvents(api, serviceId, {
    event(event) {
      boxes.get(event.containerId)?.handle(event)
      if (event.action === 'commit') disks.retryRemovals().catch(logFailure('Could not delete the copy of a snapshot'))
    },
    async connected() {
      const isBack = wasLost
      // From here on, devboxes are removed immediately: `reconcile` may already have its list.
      wasLost = false
      try {
        await reconcile()
        await removeUnfinishedCommits(api, serviceId)
        await disks.retryRemovals()
      } catch (error) {
        wasLost = isBack
        throw error
      }
      if (isBack) logError({ message: `The container engine at ${api.url} is available again` })
    },
    lost(problem) {
      wasLost = true
      logError({ message: problem })
      for (const box of boxes.values()) box.lost(`The container engine at ${api.url} stopped responding`)
    },
  })

  let info: Promise<EngineInfo> | undefined
  const readInfo = () => {
    info ??= api.json<EngineInfo>('GET', '/info')
    info.catch(() => {
      info = undefined
    })
    return info
  }

  const imageOf = async ({ origin, signal }: BoxSpec): Promise<ImageInspectInfo> => {
    if (origin.kind !== 'image' && origin.kind !== 'snapshot' && origin.kind !== 'empty')
      throw new ServiceError('not_implemented', 'Containers require an image', { shouldRetry: false })
    if (origin.kind === 'snapshot') {
      const found = await api
        .json<ImageInspectInfo>('GET', `/images/${snapshotImage(origin.snapshotId)}/json`)
        .catch(ifMissing)
      if (found) return found
      throw new ServiceError(
        'internal',
        `The data of snapshot ${origin.snapshotId} is missing from the container engine`,
        { shouldRetry: false },
      )
    }
    const image = origin.kind === 'image' ? origin.image : defaultImage
    return images.require(image, signal).catch((error: Error) => {
      signal.throwIfAborted()
      if (error instanceof ServiceError) throw error
      throw new ServiceError('invalid_argument', `Image ${image} is not available: ${error.message}`, {
        shouldRetry: false,
        cause: error,
      })
    })
  }

  const openProxy = async (spec: BoxSpec, report: (sentence: string) => void): Promise<EgressProxy | undefined> => {
    if (typeof spec.network !== 'object') return undefined
    const { gateway } = await internal.ensure()
    if (gateway === undefined) throw new Error(`network ${internal.name} has no gateway`)
    return egress.open({ ...spec, hostnames: spec.network.hostnames }, gateway, report)
  }

  const create = async (
    spec: BoxSpec,
    image: Image,
    services: Services | undefined,
    cores: number,
  ): Promise<string> => {
    const { devboxId, limits } = spec
    const run = runOf(spec)
    const network = networkFor(spec)
    await network?.ensure()
    const body = {
      Image: image.Id,
      ...configFor(spec, image),
      HostConfig: {
        ...limitsOf(limits, cores),
        CapAdd: capabilitiesOf(spec),
        LogConfig: run ? maxContainerLog : { Type: 'none', Config: {} },
        ...(run && hostConfigOf(run, namesOf(spec), cores)),
        NetworkMode: network?.name ?? 'none',
        ...(spec.network === 'public' && services?.firstNetwork().host),
      },
      ...(spec.network === 'public' && services?.firstNetwork().container),
    }
    // Not aborted: the engine would still create it.
    const post = () =>
      api.json<{ Id: string }>('POST', '/containers/create', { query: { name: containerName(devboxId) }, body })
    const created = await post().catch(async (error: unknown) => {
      // A crash may have left a container that never ran.
      if (!(error instanceof EngineResponseError) || error.status !== 409) throw error
      await removeContainer(containerName(devboxId))
      return post()
    })
    return created.Id
  }

  const inspect = (container: string) => api.json<ContainerInspectInfo>('GET', `/containers/${container}/json`)

  /** Call before any command runs. */
  const openNetwork = async (
    spec: BoxSpec,
    box: ContainerBox,
    { proxy, hasServices }: { proxy: EgressProxy | undefined; hasServices: boolean },
  ): Promise<void> => {
    const network = networkFor(spec)
    if (!network) return
    const { containerId } = box
    const { State, NetworkSettings } = await inspect(containerId)
    const { IPAddress } = NetworkSettings.Networks[network.name] ?? {}
    if (proxy && !IPAddress) throw new Error(`the container has no address in network ${network.name}`)
    // Services need private addresses to reach each other.
    const isRestricted =
      !hasServices && (await restrictNetwork(spec, { pid: State.Pid, containerId, gateway: proxy?.gateway }))
    if (!isRestricted) box.notEnforced.push(...openAddresses(spec))
    if (IPAddress) proxy?.accept(IPAddress)
  }

  const isConnected = async ({ NetworkSettings }: ContainerInspectInfo, spec: BoxSpec): Promise<boolean> => {
    const networks = NetworkSettings.Networks
    const network = networkFor(spec)
    if (!network) return ![bridge, internal].some(({ name }) => networks[name])
    return networks[network.name]?.NetworkID === (await network.ensure()).id
  }

  /** A stopped container keeps the network of its creation, which the policy or an administrator may have changed. */
  const reconnect = async (container: ContainerInspectInfo, spec: BoxSpec) => {
    if (await isConnected(container, spec)) return
    const { Id, NetworkSettings } = container
    for (const name of Object.keys(NetworkSettings.Networks))
      await api.json('POST', `/networks/${name}/disconnect`, { body: { Container: Id, Force: true } }).catch(ifMissing)
    const id = (await networkFor(spec)?.ensure())?.id
    if (id !== undefined) await api.json('POST', `/networks/${id}/connect`, { body: { Container: Id } })
  }

  const setOnline = async (containerId: string, isOnline: boolean, services: Services | undefined): Promise<void> => {
    const { NetworkSettings } = await inspect(containerId)
    const names = Object.keys(NetworkSettings.Networks)
    if (names.some((name) => name !== 'none') === isOnline) return
    const body = { Container: containerId, Force: true }
    for (const name of names) await api.json('POST', `/networks/${name}/disconnect`, { body }).catch(ifMissing)
    if (!isOnline) return
    if (services) return services.connectMain(containerId)
    const { id } = await bridge.ensure()
    await api.json('POST', `/networks/${id}/connect`, { body: { Container: containerId } })
  }

  const openBox = async (
    spec: BoxSpec,
    { containerId, image, facts, proxy, services }: Opened,
  ): Promise<ContainerBox> => {
    const box = new ContainerBox({
      api,
      containerId,
      ...boxOptions(spec, image, facts, await readInfo()),
      // Trials run again after a restart of the service.
      outlivesService: runOf(spec) === undefined,
      env: proxy?.environment ?? {},
      setOnline: async (isOnline) => {
        await setOnline(containerId, isOnline, services)
        if (isOnline && spec.network === 'none')
          await openNetwork({ ...spec, network: 'public' }, box, {
            proxy: undefined,
            hasServices: services !== undefined,
          })
      },
      onEnd: () => {
        boxes.delete(containerId)
        void proxy?.end()
      },
    })
    boxes.set(containerId, box)
    return box
  }

  const start = async (spec: BoxSpec, proxy: EgressProxy | undefined): Promise<ContainerBox> => {
    const { devboxId, hasRun, signal } = spec
    const existing = await inspect(containerName(devboxId)).catch(ifMissing)
    // One that never started may lack files.
    const found = hasRun || (existing && Date.parse(existing.State.StartedAt) > 0) ? existing : undefined
    if (hasRun && !found) throw new Error('its disk is missing from the container engine')
    const image = found ? { Id: found.Image, Config: found.Config } : await imageOf(spec)
    const run = runOf(spec)
    const { NCPU: cores } = await readInfo()
    const services =
      run?.services &&
      new Services({ api, names: namesOf(spec), run, hostConfig: serviceLimits(spec, cores), cores, signal })
    try {
      await services?.createNetworks()
      const containerId = found?.Id ?? (await create(spec, image, services, cores))
      const facts = await readFacts(image.Id, containerId)
      if (found) {
        await reconnect(found, spec)
        await putFiles(api, containerId, serviceFiles(facts, ownerOf(spec, image, facts)), signal)
      } else {
        await install(api, containerId, spec, facts, image)
        if (run) await putRunFiles(api, containerId, run, signal)
      }
      const box = await openBox(spec, { containerId, image, facts, proxy, services })
      signal.throwIfAborted()
      if (services) await services.up({ id: containerId, isOnline: spec.network === 'public' })
      else await api.json('POST', `/containers/${containerId}/start`)
      await openNetwork(spec, box, { proxy, hasServices: services !== undefined })
      if (found) await box.emptyRunFolder()
      if (run) await untilReached(api, containerId, { name: 'The container', condition: 'up' }, signal)
      if (services)
        box.ended
          .then(() => removeServices(api, serviceId, (id) => id === devboxId))
          .catch(logFailure(`Could not remove the services of devbox ${devboxId}`))
      return box
    } catch (error) {
      for (const [id, box] of boxes) if (box.devboxId === devboxId) boxes.delete(id)
      await (found ? stopContainer(api, found.Id) : removeContainer(containerName(devboxId))).catch(
        logFailure(`Could not remove the container of devbox ${devboxId}`),
      )
      if (services) await removeServices(api, serviceId, (id) => id === devboxId)
      throw error
    }
  }

  /** What an earlier service left running; undefined if it has to start again. */
  const adopt = async (
    spec: BoxSpec,
    report: (sentence: string) => void,
  ): Promise<ContainerBox | BoxEnd | undefined> => {
    const found = await inspect(containerName(spec.devboxId)).catch(ifMissing)
    if (!found) return { cause: 'The container is missing from the container engine' }
    if (!found.State.Running) return undefined
    const { Id: containerId, Image: Id, Config } = found
    if (runOf(spec) || !(await isConnected(found, spec))) {
      await stopContainer(api, containerId)
      return undefined
    }
    const proxy = await openProxy(spec, report)
    try {
      const facts = await readFacts(Id, containerId)
      const box = await openBox(spec, { containerId, image: { Id, Config }, facts, proxy })
      // It may have ended before the box could receive its events.
      if (!(await inspect(containerId)).State.Running) {
        box.detach()
        return undefined
      }
      await openNetwork(spec, box, { proxy, hasServices: false })
      return box
    } catch (error) {
      boxes.delete(containerId)
      await proxy?.end()
      throw error
    }
  }

  return {
    isolation: 'container',
    description: 'Isolated by a container: separate users, processes, network, files and host name',
    images,
    disks,
    userProblem: () => undefined,
    networkProblem: (network) =>
      typeof network === 'object' && !address.isLocal
        ? 'allows some host names, which a remote container engine does not support'
        : undefined,
    async start(spec, report) {
      kept?.add(spec.devboxId)
      left.delete(spec.devboxId)
      starting.add(spec.devboxId)
      let proxy: EgressProxy | undefined
      try {
        proxy = await openProxy(spec, report)
        return await start(spec, proxy)
      } catch (error) {
        await proxy?.end()
        throw error
      } finally {
        starting.delete(spec.devboxId)
      }
    },
    async adopt(spec, report) {
      const adopted = await adopt(spec, report)
      left.delete(spec.devboxId)
      return adopted
    },
    async abandon(devboxId) {
      left.delete(devboxId)
      // Otherwise the next connection stops it.
      await stopContainer(api, containerName(devboxId)).catch(logFailure('Could not stop a container'))
    },
    async requireAvailable() {
      await api.json('GET', '/_ping', { timeoutMs: maxPingMs })
    },
    async recover(devboxIds, isKnownDevbox, running = new Set()) {
      kept = new Set(devboxIds)
      for (const id of running) left.add(id)
      isKnown = isKnownDevbox
      const problem = await events.connected.then(
        () => undefined,
        (error: Error) => error,
      )
      if (!problem) await reconcile()
    },
    async close() {
      events.close()
      // The next service adopts the others.
      const stopping = [...boxes.values()].filter(({ devboxId }) => !left.has(devboxId))
      await Promise.all(stopping.map((box) => box.stop().catch(logFailure('Could not stop a container'))))
      if ((await listContainers().catch(() => undefined))?.length === 0) await removeNetworks()
      else egress.close()
    },
  }
}

interface Opened {
  containerId: string
  image: Image
  facts: ImageFacts
  proxy: EgressProxy | undefined
  services?: Services | undefined
}

interface ContainerSummary {
  Id: string
  State: string
  Labels: Record<string, string>
}

const openAddresses = ({ network, privateNetwork }: BoxSpec): string[] => {
  if (network === 'public' && privateNetwork) return ["Network: the engine's host is not blocked"]
  if (network === 'public') return ["Network: private addresses and the engine's host are not blocked"]
  return ["Network: this host's addresses are not blocked"]
}
