import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#lib/service/kit/ids.ts'
import { makeContainerSpec } from '#lib/service/testing/boxes.ts'
import { sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { type EngineLine, openEngineLine } from '#lib/service/testing/engine-line.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import type { Box, BoxSpec } from '../box.ts'
import { type ContainerEngine, createContainerEngine } from './container-engine.ts'
import { parseEngineAddress } from './engine-address.ts'

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
    const spec = makeContainerSpec(folder, { serviceId, ...more })
    started.push(spec.devboxId)
    return { devboxId: spec.devboxId, spec, box: await engine.start(spec, () => undefined) }
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
    const { box } = await start({ network: { hostnames: ['allowed.example'] } })
    const services = line.hold(/^GET \/containers\/json\?/, 'request')
    list.release()
    await services.held
    const service = { name: 'beside', image: 'base', command: ['sleep', '1000'], dependsOn: [] }
    const run = { asImage: true, command: ['sleep', '1000'], services: [service] } as const
    await start({ network: 'public', origin: { kind: 'image', image: 'base', run } })
    // Sent by the step after `reconcile`.
    const last = line.hold(/^GET \/containers\/json\?/, 'request')
    services.release()
    await last.held
    const dialProxy = `exec 3<>"/dev/tcp/\${HTTP_PROXY:7:-6}/\${HTTP_PROXY##*:}" && echo connected`
    expect(await outputOf(box, dialProxy)).toBe('connected\n')
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
  it('removes a devbox that could not start again', async () => {
    const { devboxId, box } = await start()
    await box.stop()
    line.cut({ stays: true })
    await expect(start({ devboxId, hasRun: true, network: { hostnames: [] } })).rejects.toThrow("can't be reached")
    await engine.disks.remove(devboxId)
    line.restore()
    await expect.poll(() => containers('devdeck.devbox')).toEqual([])
  })

  it('starts a devbox again that ended while it was adopted', async () => {
    const { spec, box } = await start()
    box.detach?.()
    const found = line.hold(/^GET \/containers\/devdeck-[^/]+\/json/, 'response')
    const adopted = engine.adopt?.(spec, () => undefined)
    await found.held
    await docker.api.json('POST', `/containers/devdeck-${serviceId.slice(0, 12)}-${spec.devboxId}/kill`)
    await expect.poll(() => containers('devdeck.devbox')).toEqual(['exited'])
    found.release()
    expect(await adopted).toBeUndefined()
  })
  it('leaves a devbox running whose adoption has not finished when it closes', async () => {
    const { spec, box } = await start({ network: 'public' })
    box.detach?.()
    const left = new Set([spec.devboxId])
    const next = createContainerEngine({ address: parseEngineAddress(line.url, {}), serviceId, defaultImage: 'base' })
    await next.recover(left, () => true, left)
    const opened = line.hold(/^GET \/containers\/[0-9a-f]{64}\/json/, 'request')
    const adopted = next.adopt?.(spec, () => undefined)
    await opened.held
    await next.close()
    expect(await containers('devdeck.devbox')).toEqual(['running'])
    opened.release()
    await adopted
  })
})
