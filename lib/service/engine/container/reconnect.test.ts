import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#lib/service/kit/ids.ts'
import { sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
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
  let line: Line
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
    line = await openLine(docker.folder)
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
    const list = line.hold('/containers/json?', 'response')
    line.cut()
    await list.held
    const { box } = await start()
    const services = line.hold('/containers/json?', 'request')
    list.release()
    await services.held
    const service = { name: 'beside', image: 'base', command: ['sleep', '1000'], dependsOn: [] }
    const run = { asImage: true, command: ['sleep', '1000'], services: [service] } as const
    await start({ network: 'public', origin: { kind: 'image', image: 'base', run } })
    const last = line.hold('/volumes?', 'response')
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
    const last = line.hold('/volumes?', 'response')
    line.restore()
    await last.held
    await engine.disks.remove(devboxId)
    last.release()
    await expect.poll(() => containers('devdeck.devbox')).toEqual([])
  })
})

type Line = Awaited<ReturnType<typeof openLine>>

/** A TCP connection to the engine in a folder, which can be cut. */
const openLine = async (folder: string) => {
  const sockets = new Set<Socket>()
  let isCut = false
  let holding: { path: string; side: 'request' | 'response'; take(go: () => void): void } | undefined
  const server: Server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(join(folder, 'docker.sock'))
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from.on('error', () => undefined).on('end', () => to.end()))
      from.on('close', () => sockets.delete(from))
      from.on('close', () => to.destroy())
    }
    let path = ''
    const pass = (from: Socket, to: Socket, side: 'request' | 'response') =>
      from.on('data', (chunk) => {
        if (side === 'request') path = /^GET (\S+)/.exec(chunk.toString('latin1'))?.[1] ?? ''
        if (!holding || side !== holding.side || !path.startsWith(holding.path)) return void to.write(chunk)
        const { take } = holding
        holding = undefined
        from.pause()
        take(() => {
          to.write(chunk)
          from.resume()
        })
      })
    pass(near, far, 'request')
    pass(far, near, 'response')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Holds the next GET request whose path starts so, or its response. */
    hold(path: string, side: 'request' | 'response') {
      const held = Promise.withResolvers<void>()
      let go: () => void = () => undefined
      holding = {
        path,
        side,
        take(next) {
          go = next
          held.resolve()
        },
      }
      return { held: held.promise, release: () => go() }
    },
    cut({ stays = false } = {}) {
      isCut = stays
      for (const socket of sockets) socket.destroy()
    },
    restore() {
      isCut = false
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
