import { existsSync } from 'node:fs'
import { ServiceError, StartError } from '#lib/service/kit/errors.ts'
import type { BoxEngine, Images, Isolation, Origin } from './box.ts'
import { bubblewrapProblem, createBubblewrap } from './bubblewrap/bubblewrap.ts'
import type { EngineVariables } from './container/engine-address.ts'

import type { LocalHost } from './local/local-engine.ts'
import { createPlainProcess } from './process/plain-process.ts'

/** `local` devboxes are processes on this host; `container` ones belong to the container engine. */
export type EngineKind = 'local' | 'container'

export interface EngineChoice {
  isolation: Isolation | 'auto'
  /** URL of the container engine, or `none`. Default: as for the docker command. */
  engine?: string | undefined
  /** Of container devboxes without an image of their own. */
  image: string
  engineVariables: EngineVariables
}

export interface Engines {
  /** Of devboxes that ask for nothing else. */
  readonly isolation: Isolation
  readonly images: Images | undefined
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
const chooseLocal = async (requested: Isolation | 'auto', log: (line: string) => void) => {
  if (requested !== 'none') {
    const problem = await bubblewrapProblem()
    if (problem === undefined) return { create: createBubblewrap, isolation: 'bubblewrap' } as const
    if (requested === 'bubblewrap') throw new StartError(`bubblewrap doesn't work on this host: ${problem}`)
    if (requested !== 'container') log(`Devboxes are NOT isolated: bubblewrap doesn't work on this host (${problem})`)
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
  if (isolation === 'bubblewrap' || isolation === 'none') return undefined
  const url = engine ?? (DOCKER_HOST || (existsSync(defaultSocket) ? `unix://${defaultSocket}` : 'none'))
  return url === 'none' ? undefined : url
}

const chooseContainers = async (choice: EngineChoice) => {
  const { isolation, engineVariables } = choice
  const url = engineUrl(choice)
  if (url !== undefined) {
    // Loaded only if needed: it takes 150 ms.
    const { parseEngineAddress } = await import('./container/engine-address.ts')
    const { createContainerEngine } = await import('./container/container-engine.ts')
    return { createContainerEngine, address: parseEngineAddress(url, engineVariables) }
  }
  if (isolation === 'container')
    throw new StartError('--isolation container requires a container engine; start one or name it with --engine')
  return undefined
}

/** Probes at once; `create` resolves once the service has its data folder. */
export const probeEngine = (choice: EngineChoice) => {
  const warnings: string[] = []
  const chosen = Promise.all([
    chooseLocal(choice.isolation, (message) => warnings.push(message)),
    chooseContainers(choice),
  ])
  // Awaited later.
  chosen.catch(() => undefined)
  const create = async (host: LocalHost): Promise<Engines> => {
    const [{ create: createLocal, isolation }, containers] = await chosen
    const local = createLocal(host)
    const container = containers?.createContainerEngine({
      address: containers.address,
      serviceId: host.serviceId,
      defaultImage: choice.image,
    })
    const isForced = choice.isolation === 'container'
    return {
      isolation: isForced ? 'container' : isolation,
      images: container?.images,
      kindFor({ origin, snapshotEngine, blueprint }) {
        const needsImage = origin?.kind === 'image' || Boolean(blueprint?.image)
        const isPlain = !origin && !blueprint
        const wanted = snapshotEngine ?? (needsImage || (isForced && isPlain) ? 'container' : 'local')
        if (wanted === 'container' && !container) throw noContainers(choice)
        return wanted
      },
      of(kind) {
        if (kind === 'local') return local
        if (!container) throw noContainers(choice)
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

const noContainers = ({ isolation }: EngineChoice) =>
  new ServiceError(
    'not_implemented',
    isolation === 'auto' || isolation === 'container'
      ? 'Images require a container engine; start one or name it with --engine'
      : `Images require a container engine, which --isolation ${isolation} turns off`,
    { shouldRetry: false },
  )

export type EngineProbe = ReturnType<typeof probeEngine>
