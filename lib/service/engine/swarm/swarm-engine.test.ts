import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#lib/service/kit/ids.ts'
import { makeContainerSpec } from '#lib/service/testing/boxes.ts'
import { hasSwarm } from '#lib/service/testing/has-swarm.ts'
import { sharedSwarm } from '#lib/service/testing/swarm.ts'
import type { Box, BoxSpec } from '../box.ts'
import { parseEngineAddress } from '../container/engine-address.ts'
import { createNodeAddresses } from './node-address.ts'
import { createSwarmEngine, type SwarmEngine } from './swarm-engine.ts'

const giga = 2 ** 30

describe.skipIf(!hasSwarm)('swarm engine', () => {
  let swarm: Awaited<ReturnType<typeof sharedSwarm>>
  let folder: string
  let engine: SwarmEngine
  const serviceId = newId('svc')

  beforeAll(async () => {
    swarm = await sharedSwarm()
    await swarm.image('busybox')
    folder = await mkdtemp(join(tmpdir(), 'devdeck-swarm-engine-'))
    const manager = parseEngineAddress(swarm.manager.url, {})
    engine = createSwarmEngine({
      manager,
      addressOf: createNodeAddresses({ manager, template: undefined, variables: {} }),
      registry: undefined,
      variables: {},
      placement: ['node.platform.os==linux'],
      reserved: { cpu: 0.1, memory: 0.5 },
      serviceId,
      defaultImage: 'busybox',
    })
    await engine.recover(new Set(), () => true)
  })
  afterAll(async () => {
    await engine?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  const made: string[] = []
  const start = async (more: Partial<BoxSpec> = {}, report: (sentence: string) => void = () => undefined) => {
    const spec = makeContainerSpec(folder, { serviceId, ...more })
    made.push(spec.devboxId)
    const box = await engine.start(spec, report)
    return { box, devboxId: spec.devboxId }
  }
  afterEach(async () => {
    for (const id of made.splice(0)) await engine.disks.remove(id)
  })

  const run = async (box: Box, script: string) => {
    const process = await box.start({ argv: [box.shell, '-c', script], env: {} })
    const [stdout, status] = await Promise.all([text(process.stdout), process.exited])
    return { stdout, status }
  }

  it('starts a devbox as a service that reserves a share of its limits and is not restarted', async () => {
    const { box, devboxId } = await start()
    expect((await run(box, 'id -un; hostname; cat /sys/fs/cgroup/memory/memory.limit_in_bytes')).stdout).toBe(
      `user\nbox\n${giga}\n`,
    )
    const [service] = await swarm.manager.api.json<{ Spec: { TaskTemplate: object } }[]>('GET', '/services', {
      query: { filters: { label: [`devdeck.devbox=${devboxId}`] } },
    })
    expect(service?.Spec.TaskTemplate).toMatchObject({
      Resources: {
        Limits: { NanoCPUs: 1e9, MemoryBytes: giga, Pids: 1024 },
        Reservations: { NanoCPUs: 1e8, MemoryBytes: giga / 2 },
      },
      RestartPolicy: { Condition: 'none' },
    })
    expect(engine.cluster.nodes().map(({ hostname }) => hostname)).toContain(box.node?.hostname)
  })

  it('waits while no node fits, says why, and starts once one does', async () => {
    const pool = newId('dbx')
    const reports: string[] = []
    const starting = start({ placement: [`node.labels.pool==${pool}`] }, (sentence) => reports.push(sentence))
    await expect.poll(() => reports).toEqual([expect.stringMatching(/no suitable node/)])
    expect(engine.cluster.waiting().map(({ devboxId }) => devboxId)).toEqual(made)
    const [, second] = engine.cluster.nodes().toSorted((a, b) => a.hostname.localeCompare(b.hostname))
    const { api } = swarm.manager
    const { Spec, Version } = await api.json<{ Spec: object; Version: { Index: number } }>(
      'GET',
      `/nodes/${second?.id}`,
    )
    const body = { ...Spec, Labels: { pool } }
    await api.json('POST', `/nodes/${second?.id}/update`, { query: { version: Version.Index }, body })
    expect((await starting).box.node?.hostname).toBe('node-2')
    expect(engine.cluster.waiting()).toEqual([])
  })

  it('removes a service whose start was aborted while it waited', async () => {
    const abort = new AbortController()
    const waits = Promise.withResolvers<void>()
    const starting = start({ placement: ['node.labels.pool==none'], signal: abort.signal }, () => waits.resolve())
    await waits.promise
    abort.abort(new Error('shut down'))
    await expect(starting).rejects.toThrow()
    const filters = { label: [`devdeck.devbox=${made[0]}`] }
    expect(await swarm.manager.api.json('GET', '/services', { query: { filters } })).toEqual([])
    expect(engine.cluster.waiting()).toEqual([])
  })

  it('keeps the disk when a resume is aborted, and counts replaced files only until the limit is reached', async () => {
    const { box, devboxId } = await start()
    const megabyte = 1_000_000
    const limits = { cpuCores: 1, memoryBytes: giga, diskBytes: 2 * megabyte }
    const replace = (box: Box) => run(box, `head -c ${1.5 * megabyte} /dev/urandom >~/data`)
    await replace(box)
    await box.stop()
    const again = { devboxId, hasRun: true, limits }
    await expect(start({ ...again, signal: AbortSignal.abort() })).rejects.toThrow()
    const { box: second } = await start(again)
    expect((await run(second, 'wc -c <~/data')).stdout).toBe(`${1.5 * megabyte}\n`)
    await replace(second)
    const used = () => engine.disks.usedBytes(devboxId, new AbortController().signal)
    expect(await used()).toBeGreaterThan(3 * megabyte)
    await second.stop()
    const { box: third } = await start(again)
    expect((await run(third, 'wc -c <~/data')).stdout).toBe(`${1.5 * megabyte}\n`)
    expect(await used()).toBeGreaterThan(1.5 * megabyte)
    expect(await used()).toBeLessThan(2 * megabyte)
  })

  it("copies files before an image's own process starts", async () => {
    const source = join(folder, 'input')
    await writeFile(source, 'from the task')
    const { box } = await start({
      origin: {
        kind: 'image',
        image: 'busybox',
        run: {
          asImage: true,
          entrypoint: ['/bin/sh', '-c', 'cp /task/input /copy; sleep 1000'],
          files: [{ source, target: '/task/input' }],
        },
      },
    })
    await expect.poll(async () => (await run(box, 'cat /copy')).stdout).toBe('from the task')
  })

  it('reports a container that was removed from outside', async () => {
    const { box, devboxId } = await start()
    const node = swarm.nodes.find(({ hostname }) => hostname === box.node?.hostname)
    const filters = { label: [`devdeck.devbox=${devboxId}`] }
    const found = await node?.api.json<{ Id: string }[]>('GET', '/containers/json', { query: { filters } })
    await node?.api.json('DELETE', `/containers/${found?.[0]?.Id}`, { query: { force: true } })
    expect((await box.ended)?.cause).toBe('The container was removed from outside')
  })
})
