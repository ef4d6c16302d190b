import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '#lib/service/testing/free-port.ts'
import { startEmbeddedService } from './embedded-service.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-embedded-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const isUp = async (url: string) => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok === true
/** The process that uses this data folder. */
const servicePid = () => Number(readFileSync(join(dataDir, 'lock'), 'utf8').match(/\d+/)?.[0])

describe('the embedded service', () => {
  it('restarts on its port when it dies, and ends after stop', async () => {
    const service = await startEmbeddedService(dataDir)
    expect(await isUp(service.url())).toBe(true)
    const key = service.ownKey()
    expect(statSync(join(dataDir, 'api-key')).mode & 0o777).toBe(0o600)
    const asked = await fetch(`${service.url()}/v1/accounts/me`, { headers: { authorization: `Bearer ${key}` } })
    expect(asked.status).toBe(200)

    const url = service.url()
    const killed = servicePid()
    process.kill(killed, 'SIGKILL')
    await expect.poll(() => servicePid()).not.toBe(killed)
    await expect.poll(() => isUp(url)).toBe(true)
    expect(service.url()).toBe(url)

    await service.stop()
    expect(await isUp(url)).toBe(false)
  })

  it('keeps its port across restarts, and picks another one if it is taken', async () => {
    const first = await startEmbeddedService(dataDir)
    await first.stop()
    const second = await startEmbeddedService(dataDir)
    await second.stop()
    expect(second.url()).toBe(first.url())

    const said = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const { port } = new URL(first.url())
    const other = createServer().listen(Number(port), '::1')
    await once(other, 'listening')
    const moved = await startEmbeddedService(dataDir)
    await moved.stop()
    other.close()
    expect(moved.url()).not.toBe(first.url())
    expect(said).toHaveBeenCalledWith(`Port ${port} of the local service is taken; using another one`)
    said.mockRestore()
  })

  it('keeps its port when the service of a killed console is still stopping', async () => {
    const first = await startEmbeddedService(dataDir)
    await first.stop()
    const { port } = new URL(first.url())
    const entry = fileURLToPath(new URL('../service/main.ts', import.meta.url))
    const left = spawn(process.execPath, [entry, '--port', port, '--data-dir', dataDir, '--stop-with-parent'])
    await expect.poll(() => isUp(first.url())).toBe(true)
    const said = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    left.kill('SIGSTOP')
    left.stdin.end()
    const starting = startEmbeddedService(dataDir)
    await expect
      .poll(() => said.mock.calls.flat())
      .toContain(`Waiting for the previous local service (pid ${left.pid}) to stop`)
    left.kill('SIGCONT')
    const second = await starting
    await second.stop()
    expect(second.url()).toBe(first.url())
    said.mockRestore()
  })

  it('uses a configured port instead of its last one, and any port when the remembered one is invalid', async () => {
    const port = await freePort()
    const service = await startEmbeddedService(dataDir, { port })
    await service.stop()
    expect(service.url()).toBe(`http://127.0.0.1:${port}`)
    writeFileSync(join(dataDir, 'port'), '70000')
    const other = await startEmbeddedService(dataDir)
    await other.stop()
    expect(other.url()).toMatch(/:\d+$/)
  })

  it('receives keys without exposing them in /proc', async () => {
    const service = await startEmbeddedService(dataDir, { apiKeys: 'one:swordfish-0123456789' })
    expect(service.ownKey()).toBe('swordfish-0123456789')
    const asked = await fetch(`${service.url()}/v1/accounts/me`, {
      headers: { authorization: 'Bearer swordfish-0123456789' },
    })
    expect(await asked.json()).toMatchObject({ id: 'one' })
    for (const file of ['environ', 'cmdline'])
      expect(readFileSync(`/proc/${servicePid()}/${file}`, 'latin1')).not.toContain('swordfish-0123456789')
    await service.stop()
  })

  it('applies the configured storage limit', async () => {
    const service = await startEmbeddedService(dataDir, { flags: ['--max-storage', '1K'] })
    const headers = { authorization: `Bearer ${service.ownKey()}`, 'content-type': 'application/json' }
    const create = () => fetch(`${service.url()}/v1/axons`, { method: 'POST', headers, body: '{"name":"large"}' })
    await expect.poll(async () => (await create()).status, { interval: 0 }).toBe(507)
    await service.stop()
  })

  it('is not killed when it prints more lines together with its address', async () => {
    const entry = join(dataDir, 'entry.mjs')
    const lines = 'Devdeck service listening on http://127.0.0.1:9\\nMetrics on http://127.0.0.1:10/metrics\\n'
    writeFileSync(entry, `process.stdout.write('${lines}')\nsetInterval(() => undefined, 1000)`)
    const said = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const service = await startEmbeddedService(dataDir, { entry, port: 0 })
    await vi.waitFor(() => expect(said).toHaveBeenCalledWith('Metrics on http://127.0.0.1:10/metrics'))
    const timers = vi.getTimerCount()
    vi.useRealTimers()
    await service.stop()
    said.mockRestore()
    expect(timers).toBe(0)
  })

  it('reports why it did not start', async () => {
    await expect(startEmbeddedService('/dev/null/data')).rejects.toThrow(
      'The embedded service did not start: it exited with code 1',
    )
  })
})

describe('server.ts', () => {
  const start = async (environment: Record<string, string>) => {
    const { NODE_OPTIONS: _, VITEST: __, ...own } = process.env
    const child = spawn(process.execPath, ['server.ts'], {
      env: { ...own, DEVDECK_DATA_DIR: dataDir, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        printed += data
      })
    const [code] = await once(child, 'close')
    return { code, printed }
  }

  it('reports each configuration problem on its own line and exits with 1', async () => {
    expect(
      await start({ PORT: 'x', DEVDECK_SERVICE_PORT: '65536', HOST: '0.0.0.0', DEVDECK_SERVICE_URL: 'file:///etc' }),
    ).toEqual({
      code: 1,
      printed: [
        'PORT must be a port number from 0 to 65535',
        'DEVDECK_SERVICE_URL must be an http:// or https:// address without credentials, query or fragment',
        'DEVDECK_SERVICE_PORT must be a port number from 0 to 65535',
        'HOST 0.0.0.0 is reachable from other machines. Set DEVDECK_ORIGIN to the origin people open (https://…); the console rejects all others.\n',
      ].join('\n'),
    })
  })

  it('reports a taken port before it starts or builds anything', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const answer = await start({ PORT: String(port) })
    other.close()
    expect(answer).toEqual({
      code: 1,
      printed: `Port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or set PORT to another port.\n`,
    })
  })

  it('reports a data folder that cannot be created', async () => {
    expect(await start({ DEVDECK_DATA_DIR: '/dev/null/data' })).toMatchObject({
      code: 1,
      printed: expect.stringMatching(/^DEVDECK_DATA_DIR \/dev\/null\/data cannot be used: ENOTDIR[^\n]*\n$/),
    })
  })
})
