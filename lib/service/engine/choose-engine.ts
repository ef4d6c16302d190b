import { existsSync } from 'node:fs'
import { ServiceError, StartError } from '#lib/service/kit/errors.ts'
import type { BoxEngine, Cluster, Images, Isolation, Origin } from './box.ts'
import { bubblewrapProblem, createBubblewrap } from './bubblewrap/bubblewrap.ts'
import type { EngineVariables } from './container/engine-address.ts'

import type { LocalHost } from './local/local-engine.ts'
import { createPlainProcess } from './process/plain-process.ts'

/** `local` devboxes are processes on this host; `container` ones belong to the container engine, `swarm` ones to a swarm. */
export type EngineKind = 'local' | 'container' | 'swarm'

export interface EngineChoice {
  isolation: Isolation | 'auto'
  /** URL of the container engine, `swarm` or `none`. Default: as for the docker command. */
  engine?: string | undefined
  swarm?: SwarmChoice | undefined
  /** Image of container devboxes that don't choose one. */
  image: string
  engineVariables: EngineVariables
}

export interface SwarmChoice {
  /** URL of a manager's API. */
  url: string
  /** URL of a node's API with `{address}` or `{hostname}`. Default: as the manager's. */
  nodeUrl?: string | undefined
  /** Registry for disks and images, as HOST[:PORT][/PREFIX]. */
  registry?: string | undefined
  /** Constraints on the nodes of all devboxes. */
  placement: readonly string[]
  /** Share of its limits that a devbox reserves on its node, from 0 to 1. */
  reserved: { cpu: number; memory: number }
}

export interface Engines {
  /** Default isolation of devboxes. */
  readonly isolation: Isolation
  readonly images: Images | undefined
  readonly cluster: Cluster | undefined
  /** The engine of a new devbox. Throws 501 if none can start it. */
  kindFor(devbox: {
    origin?: Origin | undefined
    snapshotEngine?: EngineKind | undefined
    blueprint?: { image: string | null } | undefined
  }): EngineKind
  of(kind: EngineKind): BoxEngine
  recover: BoxEngine['recover']
  close(): Promise<void>
}

/** `auto` uses bubblewrap if a probe succeeds. Throws a StartError if a required bubblewrap doesn't work. */
const chooseLocal = async (choice: EngineChoice, log: (line: string) => void) => {
  const { isolation: requested, engine } = choice
  if (requested !== 'none') {
    const problem = await bubblewrapProblem()
    if (problem === undefined) return { create: createBubblewrap, isolation: 'bubblewrap' } as const
    if (requested === 'bubblewrap') throw new StartError(`bubblewrap doesn't work on this host: ${problem}`)
    if (requested !== 'container' && engine !== 'swarm')
      log(`Devboxes are NOT isolated: bubblewrap doesn't work on this host (${problem})${containersInstead(choice)}`)
    return { create: createPlainProcess, isolation: 'none' } as const
  }
  log('Devboxes are NOT isolated: they run as plain processes of this user')
  return { create: createPlainProcess, isolation: 'none' } as const
}

const defaultSocket = '/var/run/docker.sock'

/** Undefined if no container engine is used. */
export const engineUrl = ({
  isolation,
  engine,
  engineVariables: { DOCKER_HOST },
}: Omit<EngineChoice, 'image'>): string | undefined => {
  if (isolation === 'bubblewrap' || isolation === 'none' || engine === 'swarm') return undefined
  const url = engine ?? (DOCKER_HOST || (existsSync(defaultSocket) ? `unix://${defaultSocket}` : 'none'))
  return url === 'none' ? undefined : url
}

/** `auto` doesn't use the engine for all devboxes: without the image, none would start. */
export const containersInstead = (choice: Omit<EngineChoice, 'image'>): string =>
  engineUrl(choice) === undefined ? '' : '. Use --isolation container to run them in the container engine'

/** Throws a StartError for a URL that isn't valid. */
export const swarmAddresses = async ({ url, nodeUrl }: SwarmChoice, variables: EngineVariables) => {
  const { parseEngineAddress } = await import('./container/engine-address.ts')
  const { createNodeAddresses } = await import('./swarm/node-address.ts')
  const manager = parseEngineAddress(url, variables)
  return { manager, addressOf: createNodeAddresses({ manager, template: nodeUrl, variables }) }
}

const chooseSwarm = async (choice: SwarmChoice, variables: EngineVariables) => {
  const { registry, placement, reserved } = choice
  const { createSwarmEngine } = await import('./swarm/swarm-engine.ts')
  const addresses = await swarmAddresses(choice, variables)
  const create = ({ serviceId }: Pick<LocalHost, 'serviceId'>, defaultImage: string) =>
    createSwarmEngine({ ...addresses, registry, variables, placement, reserved, serviceId, defaultImage })
  return { kind: 'swarm', create } as const
}

const chooseContainers = async (choice: EngineChoice) => {
  const { isolation, engine, swarm, engineVariables } = choice
  if (engine === 'swarm') {
    if (swarm) return chooseSwarm(swarm, engineVariables)
    throw new StartError('--engine swarm requires --engine-url, the address of a manager')
  }
  const url = engineUrl(choice)
  if (url !== undefined) {
    // Loaded only if needed: it takes 150 ms.
    const { parseEngineAddress } = await import('./container/engine-address.ts')
    const { createContainerEngine } = await import('./container/container-engine.ts')
    const address = parseEngineAddress(url, engineVariables)
    const create = (host: Pick<LocalHost, 'serviceId'>, defaultImage: string) =>
      createContainerEngine({ address, serviceId: host.serviceId, defaultImage })
    return { kind: 'container', create } as const
  }
  if (isolation === 'container')
    throw new StartError('--isolation container requires a container engine; start one or name it with --engine')
  return undefined
}

/** Probes at once; `create` resolves once the service has its data folder. */
export const probeEngine = (choice: EngineChoice) => {
  const warnings: string[] = []
  const chosen = Promise.all([chooseLocal(choice, (message) => warnings.push(message)), chooseContainers(choice)])
  // Awaited later.
  chosen.catch(() => undefined)
  const create = async (host: LocalHost): Promise<Engines> => {
    const [{ create: createLocal, isolation }, containers] = await chosen
    const local = createLocal(host)
    const container = containers?.create(host, choice.image)
    const kind = containers?.kind ?? 'container'
    const isForced = choice.isolation === 'container' || kind === 'swarm'
    return {
      isolation: isForced ? kind : isolation,
      images: container?.images,
      cluster: container?.cluster,
      kindFor({ origin, snapshotEngine, blueprint }) {
        const needsImage = origin?.kind === 'image' || Boolean(blueprint?.image)
        const isPlain = !origin && !blueprint
        const wanted = snapshotEngine ?? (needsImage || (isForced && isPlain) ? kind : 'local')
        if (wanted !== 'local' && (!container || wanted !== kind)) throw noContainers(choice, wanted)
        return wanted
      },
      of(wanted) {
        if (wanted === 'local') return local
        if (!container || wanted !== kind) throw noContainers(choice, wanted)
        return container
      },
      async recover(...devboxes) {
        await Promise.all([local.recover(...devboxes), container?.recover(...devboxes)])
      },
      async close() {
        await Promise.all([local.close(), container?.close()])
      },
    }
  }
  return { create, chosen, warnings }
}

const noContainers = ({ isolation, engine }: EngineChoice, wanted: EngineKind) => {
  const message =
    wanted === 'swarm'
      ? 'It was created in a swarm; start the service with --engine swarm to use it'
      : engine === 'swarm'
        ? 'It was created by a container engine, not in the swarm'
        : isolation === 'auto' || isolation === 'container'
          ? 'Images require a container engine; start one or name it with --engine'
          : `Images require a container engine, which --isolation ${isolation} turns off`
  return new ServiceError('not_implemented', message, { shouldRetry: false })
}

export type EngineProbe = ReturnType<typeof probeEngine>
