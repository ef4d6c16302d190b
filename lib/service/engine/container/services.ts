import { setTimeout as delay } from 'node:timers/promises'
import type { ContainerInspectInfo } from 'dockerode'
import { logFailure } from '#lib/service/kit/log.ts'
import type { ContainerRun, Dependency, ImageRun, ServiceRun } from '../box.ts'
import { configOf, hostConfigOf, putRunFiles, type RunNames } from './container-run.ts'
import { type EngineApi, EngineResponseError, ifMissing } from './engine-api.ts'

const healthPollMs = 200
const maxLogLines = 20

interface Options {
  api: EngineApi
  names: RunNames
  run: ImageRun
  /** Limits and security of each container, unless its own differ. */
  hostConfig: Record<string, unknown>
  cores: number
  signal: AbortSignal
  /** Set if the networks are overlays of a swarm. */
  manager?: EngineApi
}

export interface MainContainer {
  id: string
  isOnline: boolean
  /** Default: starts the container through the API. */
  start?: () => Promise<unknown>
  /** Default: as the engine reports it. */
  untilHealthy?: () => Promise<void>
}

/** The service containers of a devbox, with their networks and volumes. */
export class Services {
  readonly #options: Options
  readonly #prefix: string
  readonly #networks: string[]

  constructor(options: Options) {
    const { names, run } = options
    this.#options = options
    this.#prefix = names.prefix
    const all = [run, ...(run.services ?? [])].flatMap((each) => networksOf(each).map(({ name }) => name))
    this.#networks = [...new Set(all)]
  }

  /** The network of the devbox's container at its creation; the API allows only one. */
  firstNetwork() {
    const { NetworkMode, NetworkingConfig } = this.#networkConfig(this.#options.run, mainService)
    return { host: { NetworkMode }, container: NetworkingConfig && { NetworkingConfig } }
  }

  async createNetworks(): Promise<void> {
    const { api, manager, names, run } = this.#options
    for (const name of this.#networks) {
      const isInternal = run.internalNetworks?.includes(name) ?? false
      const body = {
        Name: this.#prefix + name,
        CheckDuplicate: true,
        Labels: names.labels,
        // An overlay with external access would also reach the nodes.
        ...(manager ? { Driver: 'overlay', Attachable: true, Internal: true } : { Internal: isInternal }),
      }
      await (manager ?? api).json('POST', '/networks/create', { body }).catch((error: unknown) => {
        if (!(error instanceof EngineResponseError) || error.status !== 409) throw error
      })
    }
  }

  /** The networks of the devbox's container, for the service of a swarm. */
  attachments(): Promise<{ Target: string; Aliases: string[] }[]> {
    const { manager, run } = this.#options
    return Promise.all(
      networksOf(run).map(async ({ name, aliases }) => {
        const { Id } = await (manager ?? this.#options.api).json<{ Id: string }>(
          'GET',
          `/networks/${this.#prefix}${name}`,
        )
        return { Target: Id, Aliases: [mainService, ...aliases] }
      }),
    )
  }

  /** Starts all containers in the order of their dependencies, and waits until those with a health check are healthy. */
  async up(main: MainContainer): Promise<void> {
    const { api, run, signal } = this.#options
    const services = run.services ?? []
    const stop = new AbortController()
    const until = AbortSignal.any([signal, stop.signal])
    const starting = new Map<string, Promise<string>>()
    const start = (name: string): Promise<string> => {
      const known = starting.get(name)
      if (known) return known
      const service = services.find((each) => each.name === name)
      const started = (async () => {
        const { dependsOn = [] } = service ?? run
        await Promise.all(dependsOn.map((dependency) => reached(dependency)))
        const id = service ? await this.#create(service) : main.id
        const ownStart = service ? undefined : main.start
        if (!service && !ownStart && main.isOnline) await this.#connect(id, networksOf(run).slice(1), mainService)
        await (ownStart?.() ?? api.json('POST', `/containers/${id}/start`, { signal: until }))
        return id
      })()
      starting.set(name, started)
      return started
    }
    const reached = async ({ service, condition }: Dependency | { service: string; condition: 'up' }) => {
      const id = await start(service)
      const isChecked = service === mainService && main.untilHealthy && ['healthy', 'up'].includes(condition)
      if (isChecked) await main.untilHealthy?.()
      await untilReached(api, id, { name: `Service ${service}`, condition: isChecked ? 'started' : condition }, until)
    }
    try {
      const names = [mainService, ...services.map(({ name }) => name)]
      await Promise.all(names.map((service) => reached({ service, condition: 'up' })))
    } catch (error) {
      stop.abort()
      await Promise.allSettled(starting.values())
      throw error
    }
  }

  connectMain(mainId: string): Promise<void> {
    return this.#connect(mainId, networksOf(this.#options.run), mainService)
  }

  async #create(service: ServiceRun): Promise<string> {
    const { api, names, hostConfig, cores, signal } = this.#options
    const { name, image, restart } = service
    const { NetworkMode, NetworkingConfig } = this.#networkConfig(service, name)
    const body = {
      Image: image,
      Labels: names.labels,
      ...configOf(service),
      HostConfig: {
        ...hostConfig,
        ...hostConfigOf(service, names, cores),
        ...(restart && { RestartPolicy: restartPolicyOf(restart) }),
        NetworkMode,
      },
      ...(NetworkingConfig && { NetworkingConfig }),
    }
    const query = { name: `${this.#prefix}${name}` }
    const { Id } = await api.json<{ Id: string }>('POST', '/containers/create', { query, body, signal })
    await this.#connect(Id, networksOf(service).slice(1), name)
    await putRunFiles(api, Id, service, signal)
    return Id
  }

  #networkConfig(run: ContainerRun, name: string): { NetworkMode: string; NetworkingConfig?: object } {
    const [first] = networksOf(run)
    if (!first) return { NetworkMode: 'none' }
    const network = this.#prefix + first.name
    return {
      NetworkMode: network,
      NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [name, ...first.aliases] } } },
    }
  }

  async #connect(id: string, networks: ReturnType<typeof networksOf>, name: string): Promise<void> {
    for (const { name: network, aliases } of networks) {
      const body = { Container: id, EndpointConfig: { Aliases: [name, ...aliases] } }
      await this.#options.api.json('POST', `/networks/${this.#prefix}${network}/connect`, { body })
    }
  }
}

/** The name of a devbox's own container in its networks. */
const mainService = 'main'

const networksOf = ({ networks = [{ name: 'default', aliases: [] }] }: ContainerRun) => networks

const restartPolicyOf = (restart: string) => {
  const [Name, retries] = restart.split(':')
  return { Name, ...(retries !== undefined && { MaximumRetryCount: Number(retries) }) }
}

export const untilReached = async (
  api: EngineApi,
  id: string,
  { name, condition }: { name: string; condition: Dependency['condition'] | 'up' },
  signal: AbortSignal,
): Promise<void> => {
  for (;;) {
    const { State } = await api.json<ContainerInspectInfo>('GET', `/containers/${id}/json`, { signal })
    const health = State.Health?.Status ?? 'none'
    const isHealthy = health === 'healthy'
    if (!State.Running && !State.Restarting && State.Status !== 'created') {
      if (State.ExitCode === 0 && condition !== 'healthy') return
      throw new Error(`${name} exited with ${State.ExitCode}${await lastOutput(api, id)}`)
    }
    if (health === 'unhealthy') throw new Error(`${name} is unhealthy${healthOutput(State.Health)}`)
    if (condition === 'healthy' && health === 'none') throw new Error(`${name} has no health check`)
    if (condition === 'started' && State.Running) return
    if (condition === 'healthy' && isHealthy) return
    if (condition === 'up' && State.Running && (isHealthy || health === 'none')) return
    await delay(healthPollMs, undefined, { signal })
  }
}

const healthOutput = (health: { Log?: { Output?: string }[] } | undefined): string => {
  const output = health?.Log?.at(-1)?.Output?.trim()
  return output ? `: ${output}` : ''
}

const lastOutput = async (api: EngineApi, id: string): Promise<string> => {
  const query = { stdout: true, stderr: true, tail: maxLogLines }
  const log = await api.json<Buffer | string>('GET', `/containers/${id}/logs`, { query }).catch(() => '')
  const output = Buffer.from(log)
  let text = ''
  // Each part has a header of 8 bytes, which ends with its length.
  for (let at = 0; at + 8 <= output.length; ) {
    const end = at + 8 + output.readUInt32BE(at + 4)
    text += output.toString('utf8', at + 8, end)
    at = end
  }
  text = text.trim()
  return text ? `: ${text}` : ''
}

/** Removes the service containers of the devboxes that `isGone` accepts. */
export const removeServices = async (
  api: EngineApi,
  serviceId: string,
  isGone: (devboxId: string) => boolean,
  { onlyContainers = false } = {},
): Promise<void> => {
  const filters = { label: [`devdeck.service=${serviceId}`, 'devdeck.beside'] }
  const found = ({ Labels }: { Labels?: Record<string, string> | null }) => isGone(Labels?.['devdeck.beside'] ?? '')
  const remove = (path: string, query = {}) =>
    api
      .json('DELETE', path, { query })
      .catch(ifMissing)
      .catch((error: unknown) => {
        if (!(error instanceof EngineResponseError) || !/already in progress/.test(error.message)) throw error
      })
      .catch(logFailure(`Could not remove ${path} from the container engine`))
  const containers = await api.json<Found[]>('GET', '/containers/json', { query: { all: true, filters } })
  await Promise.all(containers.filter(found).map(({ Id }) => remove(`/containers/${Id}`, { force: true, v: true })))
  if (onlyContainers) return
  const networks = await api.json<Found[]>('GET', '/networks', { query: { filters } })
  await Promise.all(networks.filter(found).map(({ Id }) => remove(`/networks/${Id}`)))
  const { Volumes } = await api.json<{ Volumes: (Found & { Name: string })[] | null }>('GET', '/volumes', {
    query: { filters },
  })
  await Promise.all((Volumes ?? []).filter(found).map(({ Name }) => remove(`/volumes/${Name}`, { force: true })))
}

interface Found {
  Id: string
  Labels: Record<string, string> | null
}
