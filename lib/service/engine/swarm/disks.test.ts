import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BlueprintCreate } from '#lib/contract/blueprints.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { runsLongSwarmTests } from '#lib/service/testing/has-swarm.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { ownSwarm } from '#lib/service/testing/swarm.ts'
import { ifMissing } from '../container/engine-api.ts'

describe.runIf(runsLongSwarmTests)('disks in a swarm', () => {
  let swarm: Awaited<ReturnType<typeof ownSwarm>>
  let service: TestService
  const start = async (registry: string | undefined) => {
    const swarmChoice = { url: swarm.manager.url, registry, placement: [], reserved: { cpu: 0.1, memory: 0.1 } }
    const image = await swarm.image('busybox')
    return startService({ isolation: 'auto', engine: 'swarm', swarm: swarmChoice, image })
  }
  beforeAll(async () => {
    swarm = await ownSwarm()
    service = await start(`${swarm.registry}/team`)
  })
  afterAll(async () => {
    await service?.close()
    await swarm?.close()
  })

  const nodeOf = async (id: string, on = service) => (await on.client.devboxes.get({ params: { id } })).node?.hostname
  /** Longer than a request waits. */
  const untilRunning = async (id: string, on = service) => {
    const get = async () => (await on.client.devboxes.get({ params: { id } })).status
    await expect.poll(get, { timeout: 120_000 }).toBe('running')
  }
  const devbox = async (body: DevboxCreate = {}, on = service) => {
    const { id } = await on.client.devboxes.create({ body })
    await untilRunning(id, on)
    return id
  }
  const suspend = async (id: string, on = service) => {
    await on.client.devboxes.suspend({ params: { id } })
    await on.reach(id, 'suspended')
  }
  const resume = async (id: string, on = service) => {
    await on.client.devboxes.resume({ params: { id } })
    await untilRunning(id, on)
  }
  const setAvailability = async (hostname: string, Availability: 'active' | 'drain') => {
    const { api } = swarm.manager
    const nodes = await api.json<
      { ID: string; Version: { Index: number }; Spec: object; Description: { Hostname: string } }[]
    >('GET', '/nodes')
    const node = nodes.find(({ Description }) => Description.Hostname === hostname)
    const query = { version: node?.Version.Index }
    await api.json('POST', `/nodes/${node?.ID}/update`, { query, body: { ...node?.Spec, Availability } })
  }
  /** Names of containers and images that belong to a service's devboxes, snapshots and blueprints on any node. */
  const leftovers = async (on = service) => {
    const own = `devdeck.service=${on.serviceId}`
    const lists = swarm.nodes.flatMap(({ api }) => {
      const list = (path: string, label: string[]) =>
        api.json<{ Names?: string[]; RepoTags?: string[]; RepoDigests?: string[] }[]>('GET', path, {
          query: { all: true, filters: { label } },
        })
      return [list('/containers/json', [own, 'devdeck.devbox']), list('/images/json', [own])]
    })
    return (await Promise.all(lists))
      .flat()
      .map(({ Names, RepoTags, RepoDigests }) => Names ?? [...(RepoTags ?? []), ...(RepoDigests ?? [])])
  }
  const tags = async (kind: string) => {
    const repository = `team/devdeck-${service.serviceId.slice(0, 12)}/${kind}`
    const response = await fetch(`http://${swarm.registry}/v2/${repository}/tags/list`)
    return ((await response.json()) as { tags?: string[] | null }).tags ?? []
  }
  const messages = async (id: string, on = service) =>
    (await on.client.logs.list({ params: { id }, query: {} })).logs.map(({ message }) => message ?? '')

  const holderOf = async (image: string) => {
    const found = await Promise.all(
      swarm.nodes.map(({ api }) => api.json('GET', `/images/${image}/json`).catch(ifMissing)),
    )
    return swarm.nodes[found.findIndex(Boolean)]?.hostname ?? ''
  }
  const uploads = async () =>
    (await readdir(join(swarm.folder, 'registry'), { recursive: true })).filter((path) =>
      /_uploads\/.*data$/.test(path),
    )

  it('follow a suspended devbox to another node, and leave nothing behind', async () => {
    const { client } = service
    const id = await devbox({ launch_parameters: { user_parameters: { username: 'root', uid: 0 } } })
    await service.run(
      id,
      'echo first >/first; touch /app; chown 7:8 /app; chmod 4751 /app; ln -s /first /link; head -c 1000000 /dev/urandom >/data',
    )
    const before = (await nodeOf(id)) ?? ''
    await suspend(id)
    expect(await nodeOf(id)).toBeUndefined()
    expect(await tags('disk')).toEqual([id])
    await expect.poll(() => leftovers()).toEqual([])
    await setAvailability(before, 'drain')
    await resume(id)
    expect(await nodeOf(id)).not.toBe(before)
    expect((await service.run(id, 'cat /link; stat -c "%a %u:%g" /app; echo second >/second')).stdout).toBe(
      'first\n4751 7:8\n',
    )
    await setAvailability(before, 'active')
    const running = await client.snapshots.create({ params: { id }, body: {} })
    expect(running.size_bytes).toBeGreaterThan(1_000_000)
    await service.run(id, 'echo third >/third')
    await suspend(id)
    const suspended = await client.snapshots.create({ params: { id }, body: {} })
    await client.devboxes.shutdown({ params: { id } })
    const [early, late] = await Promise.all(
      [running, suspended].map((snapshot) => devbox({ snapshot_id: snapshot.id })),
    )
    expect((await service.run(early ?? '', 'cat /link /second /third')).stdout).toBe('first\nsecond\n')
    expect((await service.run(late ?? '', 'cat /link /second /third')).stdout).toBe('first\nsecond\nthird\n')
    for (const each of [early, late]) await client.devboxes.shutdown({ params: { id: each ?? '' } })
    for (const snapshot of [running, suspended]) await client.snapshots.delete({ params: { id: snapshot.id } })
    expect([await tags('disk'), await tags('snapshot')]).toEqual([[], []])
    await expect.poll(() => leftovers()).toEqual([])
  })

  it('stay on their nodes while the registry is unavailable', async () => {
    const { client } = service
    const id = await devbox()
    await service.run(id, 'echo kept >~/kept')
    const node = await nodeOf(id)
    await swarm.stopRegistry()
    await expect(client.snapshots.create({ params: { id }, body: {} })).rejects.toMatchObject({ status: 503 })
    await suspend(id)
    expect((await messages(id)).at(-1)).toMatch(
      /^The disk stays on its node: The registry at .* can't be reached: ECONNREFUSED$/,
    )
    expect(await nodeOf(id)).toBe(node)
    await resume(id)
    expect(await nodeOf(id)).toBe(node)
    expect((await service.run(id, 'cat ~/kept; echo more >>~/kept')).stdout).toBe('kept\n')
    await suspend(id)
    await swarm.startRegistry()
    await expect.poll(() => nodeOf(id), { timeout: 30_000 }).toBeUndefined()
    expect((await messages(id)).at(-1)).toBe('The disk is saved, and the devbox can resume on any node')
    expect(await tags('disk')).toEqual([id])
    await expect.poll(() => leftovers()).toEqual([])
    await resume(id)
    expect((await service.run(id, 'cat ~/kept')).stdout).toBe('kept\nmore\n')
    await client.devboxes.shutdown({ params: { id } })
  })

  it('stay on their nodes without a registry', async () => {
    const alone = await start(undefined)
    try {
      const { client } = alone
      const id = await devbox({}, alone)
      await alone.run(id, 'echo kept >~/kept')
      const node = await nodeOf(id, alone)
      await suspend(id, alone)
      const message = 'The disk stays on its node: the swarm has no registry (--engine-registry)'
      expect((await messages(id, alone)).at(-1)).toBe(message)
      const snapshot = await client.snapshots.create({ params: { id }, body: {} })
      await resume(id, alone)
      const copy = await devbox({ snapshot_id: snapshot.id }, alone)
      for (const each of [id, copy]) {
        expect(await nodeOf(each, alone)).toBe(node)
        expect((await alone.run(each, 'cat ~/kept')).stdout).toBe('kept\n')
      }
      for (const each of [id, copy]) await client.devboxes.shutdown({ params: { id: each } })
      await client.snapshots.delete({ params: { id: snapshot.id } })
      await expect.poll(() => leftovers(alone)).toEqual([])
    } finally {
      await alone.close()
    }
  })

  it('start from a blueprint that another node built', async () => {
    const { client } = service
    const build = async (body: BlueprintCreate) => {
      const { id } = await client.blueprints.create({ body })
      const blueprint = () => client.blueprints.get({ params: { id } })
      await expect.poll(async () => (await blueprint()).status).toMatch(/complete|failed/)
      expect(await blueprint()).toMatchObject({ status: 'build_complete' })
      return id
    }
    const base = await build({ name: 'base', dockerfile: 'FROM busybox\nRUN echo base >/base' })
    const holder = await holderOf(`devdeck-blueprint:${base}`)
    await setAvailability(holder, 'drain')
    const id = await devbox({ blueprint_id: base })
    expect(await nodeOf(id)).not.toBe(holder)
    expect((await service.run(id, 'cat /base')).stdout).toBe('base\n')
    await setAvailability(holder, 'active')
    const derived = await build({ name: 'derived', base_blueprint_id: base, dockerfile: 'RUN cat /base >/derived' })
    await client.devboxes.shutdown({ params: { id } })
    for (const each of [derived, base]) await client.blueprints.delete({ params: { id: each } })
    expect(await tags('image')).toEqual([])
    await expect.poll(() => leftovers()).toEqual([])
  })

  it('keep acknowledged snapshots when a node is lost during another', async () => {
    const { client } = service
    const id = await devbox({ metadata: { 'devdeck.placement': 'node.role==worker' } })
    await service.run(id, 'echo safe >~/safe')
    const safe = await client.snapshots.create({ params: { id }, body: {} })
    await service.run(id, 'head -c 200000000 /dev/urandom >~/large')
    const hostname = await nodeOf(id)
    const lost = swarm.nodes.find((node) => node.hostname === hostname)
    const pushing = await client.snapshots.createAsync({ params: { id }, body: {} })
    await expect.poll(uploads).not.toEqual([])
    await lost?.kill()
    const state = () => client.snapshots.status({ params: { id: pushing.id } })
    await expect.poll(async () => (await state()).status, { timeout: 60_000 }).toBe('error')
    await service.reach(id, 'failure')
    await resume(id)
    expect((await service.run(id, 'ls ~; cat ~/safe')).stdout).toBe('safe\nsafe\n')
    expect((await messages(id)).join()).toContain(`The devbox continues from snapshot ${safe.id}`)
    expect(await tags('snapshot')).toEqual([safe.id])
    await lost?.revive()
    await client.devboxes.shutdown({ params: { id } })
    await client.snapshots.delete({ params: { id: safe.id } })
    await expect.poll(() => leftovers(), { timeout: 60_000 }).toEqual([])
  })
})
