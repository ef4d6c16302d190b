import { setTimeout as delay } from 'node:timers/promises'
import { logFailure } from '#lib/service/kit/log.ts'
import type { BoxSpec } from '../box.ts'
import { namesOf, runOf, serviceLimits } from '../container/devbox-container.ts'
import type { EngineApi, RegistryAuth } from '../container/engine-api.ts'
import { createImages } from '../container/images.ts'
import { type MainContainer, removeServices, Services } from '../container/services.ts'
import type { ImageReference } from './images.ts'
import type { SwarmNode } from './nodes.ts'

interface Options {
  manager: EngineApi
  serviceId: string
  reference: (image: string, signal: AbortSignal) => Promise<ImageReference>
  credentialsOf: (image: string) => Promise<RegistryAuth | undefined>
}

export interface ServiceContainers {
  /** Networks of the devbox's own container. */
  attachments: { Target: string; Aliases: string[] }[]
  /** The only nodes that have their images. */
  nodeIds: readonly string[]
  up(node: SwarmNode, cores: number, main: MainContainer): Promise<void>
}

const removalPollMs = 500
const maxRemovals = 40

/**
 * Service containers of a devbox. They run on its node without a service in the swarm, in overlays without
 * external access.
 */
export const createServiceContainers = ({ manager, serviceId, reference, credentialsOf }: Options) => {
  const filters = { label: [`devdeck.service=${serviceId}`, 'devdeck.beside'] }

  /** Repeats it, since what the swarm removes stays in use for a while. */
  const removeAll = async (api: EngineApi, list: () => Promise<string[]>): Promise<void> => {
    for (let tries = 0; tries < maxRemovals; tries++) {
      const paths = await list()
      if (paths.length === 0) return
      await Promise.all(paths.map((path) => api.json('DELETE', path).catch(() => undefined)))
      await delay(removalPollMs, undefined, { ref: false })
    }
  }

  const volumesOf = async (api: EngineApi, isGone: (devboxId: string) => boolean) => {
    const { Volumes } = await api.json<{ Volumes: (Labeled & { Name: string })[] | null }>('GET', '/volumes', {
      query: { filters },
    })
    return (Volumes ?? []).filter((each) => isGone(ownerOf(each))).map(({ Name }) => `/volumes/${Name}`)
  }

  const networksOf = async (isGone: (devboxId: string) => boolean) => {
    const networks = await manager.json<(Labeled & { Id: string })[]>('GET', '/networks', { query: { filters } })
    return networks.filter((each) => isGone(ownerOf(each))).map(({ Id }) => `/networks/${Id}`)
  }

  return {
    async prepare(spec: BoxSpec): Promise<ServiceContainers | undefined> {
      const run = runOf(spec)
      if (!run?.services) return undefined
      const { signal } = spec
      const references = await Promise.all(run.services.map(({ image }) => reference(image, signal)))
      const services = run.services.map((service, i) => ({ ...service, image: references[i]?.image ?? service.image }))
      const on = (api: EngineApi, cores: number) => {
        const hostConfig = serviceLimits(spec, cores)
        return new Services({
          api,
          manager,
          names: namesOf(spec),
          run: { ...run, services },
          hostConfig,
          cores,
          signal,
        })
      }
      const networks = on(manager, 1)
      await networks.createNetworks()
      return {
        attachments: await networks.attachments(),
        nodeIds: references.flatMap(({ nodeId }) => nodeId ?? []),
        async up({ api }, cores, main) {
          const images = createImages(api, serviceId, credentialsOf)
          for (const { image } of services) await images.require(image, signal)
          await on(api, cores).up(main)
        },
      }
    },
    async stop({ api }: SwarmNode, devboxId: string): Promise<void> {
      await removeServices(api, serviceId, (id) => id === devboxId, { onlyContainers: true })
    },
    /** Once the service of the devbox is removed. */
    remove(isGone: (devboxId: string) => boolean, nodes: readonly SwarmNode[]): void {
      const removing = async () => {
        await Promise.all(nodes.map(({ api }) => removeServices(api, serviceId, isGone, { onlyContainers: true })))
        await removeAll(manager, () => networksOf(isGone))
        await Promise.all(nodes.map(({ api }) => removeAll(api, () => volumesOf(api, isGone))))
      }
      removing().catch(logFailure('Could not remove the services of a devbox'))
    },
  }
}

interface Labeled {
  Labels: Record<string, string> | null
}

const ownerOf = ({ Labels }: Labeled) => Labels?.['devdeck.beside'] ?? ''
