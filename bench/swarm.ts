import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { startService } from '#lib/service/testing/service.ts'
import { ownSwarm } from '#lib/service/testing/swarm.ts'
import { compare } from './compare.ts'

const run = promisify(execFile)
const [cpuCores, memoryBytes, reserved] = [0.5, 2 ** 30, 0.05]

/** Devboxes of a swarm against services of the same swarm, alternately. */
export const benchSwarm = async () => {
  const swarm = await ownSwarm()
  const image = await swarm.image('base')
  const service = await startService({ isolation: 'swarm', engine: 'swarm', swarm: swarm.choice, image })
  const { api } = swarm.manager
  const { Id } = await api.json<{ Id: string }>('GET', `/images/${image}/json`)
  const create = (): Promise<Devbox> =>
    service.client.devboxes.createAndAwaitRunning({ body: { launch_parameters: { resource_size_request: 'X_SMALL' } } })
  const tasks = (name: string) =>
    api.json<{ Status: { State: string } }[]>('GET', '/tasks', { query: { filters: { service: [name] } } })
  const networkFor = async (name: string) => {
    const body = { Name: name, Driver: 'overlay', Internal: true, Attachable: true }
    return (await api.json<{ Id: string }>('POST', '/networks/create', { body })).Id
  }
  const createService = async (name: string, networkId: string) => {
    const body = {
      Name: name,
      TaskTemplate: {
        ContainerSpec: { Image: Id, Command: ['sleep', '10000'], StopGracePeriod: 1 },
        Resources: {
          Limits: { NanoCPUs: cpuCores * 1e9, MemoryBytes: memoryBytes },
          Reservations: { NanoCPUs: cpuCores * reserved * 1e9, MemoryBytes: Math.round(memoryBytes * reserved) },
        },
        RestartPolicy: { Condition: 'none' },
        Networks: [{ Target: networkId }],
      },
    }
    await api.json('POST', '/services/create', { body })
    while ((await tasks(name))[0]?.Status.State !== 'running') await delay(10)
  }
  try {
    const lasting = await create()
    const made: Devbox[] = []
    let count = 0
    let network = await networkFor('plain-0')
    await compare('create to running', {
      limit: 1.4,
      rounds: 30,
      quantile: 0.5,
      ours: async () => made.push(await create()),
      docker: () => createService(`plain-${count}`, network),
      async afterRound() {
        for (const { id } of made.splice(0)) await service.client.devboxes.shutdown({ params: { id } })
        await api.json('DELETE', `/services/plain-${count}`)
        network = await networkFor(`plain-${++count}`)
      },
    })
    const node = swarm.nodes.find(({ hostname }) => hostname === lasting.node?.hostname)
    const filters = { label: [`devdeck.devbox=${lasting.id}`] }
    const [container] =
      (await node?.api.json<{ Id: string }[]>('GET', '/containers/json', { query: { filters } })) ?? []
    if (!node || !container) throw new Error(`No container of devbox ${lasting.id}`)
    await compare('execute_sync', {
      limit: 1.5,
      rounds: 300,
      quantile: 0.99,
      ours: () => service.run(lasting.id, 'true'),
      docker: () => run('docker', ['-H', node.url, 'exec', container.Id, 'true']),
    })
  } finally {
    await service.close()
    await swarm.close()
  }
}
