import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#lib/service/kit/ids.ts'
import { sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { type EngineLine, openEngineLine } from '#lib/service/testing/engine-line.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import type { Box, BoxSpec } from '../box.ts'
import { type ContainerEngine, createContainerEngine } from './container-engine.ts'
import { parseEngineAddress } from './engine-address.ts'

const giga = 2 ** 30

describe.skipIf(!hasDocker)('while a container engine is connected again', () => {
  let docker: TestDocker
  let folder: string
  let engine: ContainerEngine
  let serviceId: string
  let line: EngineLine
  let started: string[]

  beforeAll(async () => {
    docker = await sharedDocker()
    await docker.image('base')
    folder = mkdtempSync(join(tmpdir(), 'devdeck-reconnect-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  beforeEach(async () => {
    started = []
    serviceId = newId('svc')
    line = await openEngineLine(docker.folder)
    const address = parseEngineAddress(line.url, {})
    engine = createContainerEngine({ address, serviceId, defaultImage: 'base' })
    await engine.recover(new Set(), () => true)
  })
  afterEach(async () => {
    for (const id of started) await engine.disks.remove(id)
    const filters = { label: [`devdeck.service=${serviceId}`, 'devdeck.beside'] }
    await expect.poll(() => docker.api.json('GET', '/networks', { query: { filters } })).toEqual([])
    await engine.close()
    await line.close()
  })

  const start = async (more: Partial<BoxSpec> = {}) => {
    const devboxId = newId('dbx')
    started.push(devboxId)
    const limits = { cpuCores: 1, memoryBytes: giga, diskBytes: giga }
    const spec: BoxSpec = {
      devboxId,
      serviceId,
      hostname: 'box',
      dataDir: folder,
      folder: join(folder, devboxId),
      limits,
      network: 'none',
      privateNetwork: false,
      hasRun: false,
      origin: { kind: 'empty' },
      signal: new AbortController().signal,
      ...more,
    }
    return { devboxId, box: await engine.start(spec, () => undefined) }
  }
  const outputOf = async (box: Box, script: string) =>
    text((await box.start({ argv: [box.shell, '-c', script], env: {} })).stdout)
  const containers = async (label: string) => {
    const filters = { label: [`devdeck.service=${serviceId}`, label] }
    const found = await docker.api.json<{ State: string }[]>('GET', '/containers/json', {
      query: { all: true, filters },
    })
    return found.map(({ State }) => State)
  }

  it('keeps a devbox that starts, and its services', async () => {
    const list = line.hold(/^GET \/containers\/json\?/, 'response')
    line.cut()
    await list.held
    const { box } = await start()
    const services = line.hold(/^GET \/containers\/json\?/, 'request')
    list.release()
    await services.held
    const service = { name: 'beside', image: 'base', command: ['sleep', '1000'], dependsOn: [] }
    const run = { asImage: true, command: ['sleep', '1000'], services: [service] } as const
    await start({ network: 'public', origin: { kind: 'image', image: 'base', run } })
    const last = line.hold(/^GET \/volumes\?/, 'response')
    services.release()
    await last.held
    expect(await outputOf(box, 'echo runs')).toBe('runs\n')
    expect(await containers('devdeck.devbox')).toEqual(['running', 'running'])
    expect(await containers('devdeck.beside')).toEqual(['running'])
    last.release()
  })

  it('removes a devbox that ends', async () => {
    const { devboxId, box } = await start()
    line.cut({ stays: true })
    expect((await box.ended)?.cause).toBe(`The container engine at ${line.url} stopped responding`)
    const last = line.hold(/^GET \/volumes\?/, 'response')
    line.restore()
    await last.held
    await engine.disks.remove(devboxId)
    last.release()
    await expect.poll(() => containers('devdeck.devbox')).toEqual([])
  })
})
