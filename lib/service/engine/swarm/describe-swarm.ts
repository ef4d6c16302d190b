import { EngineApi } from '../container/engine-api.ts'
import { addressesOf, type NodeInfo } from './nodes.ts'
import type { SwarmOptions } from './swarm-engine.ts'

const timeoutMs = 5000

/** The nodes of a swarm, each with why it can't be used, and the number of devboxes that this service has in it. */
export const describeSwarm = async (
  { manager, addressOf }: Pick<SwarmOptions, 'manager' | 'addressOf'>,
  serviceId: string | undefined,
) => {
  const api = new EngineApi(manager)
  const problemOf = async (info: NodeInfo): Promise<string | undefined> => {
    if (info.Status.State !== 'ready') return `is ${info.Status.State}`
    const { Address, hostname } = addressesOf(info)
    const address = addressOf({ address: Address, hostname, isManager: info.ManagerStatus?.Leader === true })
    if (!address) return 'has no API address; set --engine-node-url'
    return new EngineApi(address).json('GET', '/_ping', { timeoutMs }).then(
      () => undefined,
      ({ message }: Error) => message,
    )
  }
  const nodes = await api.json<NodeInfo[]>('GET', '/nodes', { timeoutMs })
  const filters = { label: [`devdeck.service=${serviceId}`, 'devdeck.devbox'] }
  const services = serviceId === undefined ? [] : await api.json<unknown[]>('GET', '/services', { query: { filters } })
  return {
    devboxes: services.length,
    nodes: await Promise.all(
      nodes.map(async (info) => ({ hostname: info.Description.Hostname, problem: await problemOf(info) })),
    ),
  }
}
