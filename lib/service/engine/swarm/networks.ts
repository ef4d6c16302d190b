import type { Network } from '../box.ts'
import { type EngineApi, ifMissing } from '../container/engine-api.ts'

interface Options {
  manager: EngineApi
  serviceId: string
}

type Report = (sentence: string) => void

/** The networks of devboxes: one internal overlay for each. */
export const createSwarmNetworks = ({ manager, serviceId }: Options) => {
  const nameOf = (devboxId: string) => `devdeck-${serviceId.slice(0, 12)}-${devboxId}`
  return {
    async join(devboxId: string, _network: Network, _report: Report) {
      const body = {
        Name: nameOf(devboxId),
        Driver: 'overlay',
        Internal: true,
        Attachable: true,
        Labels: { 'devdeck.service': serviceId, 'devdeck.devbox': devboxId },
      }
      await manager.json('DELETE', `/networks/${nameOf(devboxId)}`).catch(ifMissing)
      const { Id } = await manager.json<{ Id: string }>('POST', '/networks/create', { body })
      return { networkIds: [Id], env: {} as Record<string, string> }
    },
    async adopt(_devboxId: string, _networkIds: readonly string[], _network: Network, _report: Report) {
      return { env: {} as Record<string, string> }
    },
    leave(devboxId: string) {
      manager.json('DELETE', `/networks/${nameOf(devboxId)}`).catch(() => undefined)
    },
    async recover() {},
    async close() {},
  }
}

export type SwarmNetworks = ReturnType<typeof createSwarmNetworks>
