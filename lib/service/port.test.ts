import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { runCommand } from './testing/process.ts'
import { startService } from './testing/service.ts'

const folders: string[] = []
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-port-'))
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Tries to listen on the service's port until it succeeds, then writes a file. */
const takePort = (port: number) => `/usr/bin/env python3 -c 'import socket, time
open("trying", "w").close()
while True:
    for family, address in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "0.0.0.0"):
        s = socket.socket(family)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind((address, ${port}))
            s.listen()
            open("taken", "w").write(address)
            time.sleep(1000)
        except OSError:
            s.close()'`

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

describe('the port of the service', () => {
  // A devbox that took the port during a restart received the API keys of all clients.
  it("can't be taken by a devbox during shutdown", async () => {
    const dataDir = newFolder()
    const service = runCommand(['--port', '0', '--data-dir', dataDir, '--drain-seconds', '0', '--isolation', 'none'])
    try {
      const baseUrl = await service.ready
      const port = Number(new URL(baseUrl).port)
      const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
      const client = createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
      const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
      const home = join(dataDir, 'devboxes', id, 'home')
      await client.executions.executeAsync({ params: { id }, body: { command: takePort(port) } })
      await expect.poll(() => existsSync(join(home, 'trying'))).toBe(true)
      const held = client.executions.executeSync({ params: { id }, body: { command: 'touch held; sleep 1000' } })
      held.catch(() => undefined)
      await expect.poll(() => existsSync(join(home, 'held'))).toBe(true)
      service.child.kill('SIGTERM')
      const responses: { status: number; retryAfter: string | null }[] = []
      for (;;) {
        const response = await fetch(`${baseUrl}/v1/devboxes`, { headers: { connection: 'close' } }).catch(
          () => undefined,
        )
        if (!response && service.child.exitCode !== null) break
        if (response) responses.push({ status: response.status, retryAfter: response.headers.get('retry-after') })
      }
      expect((await service.ended).code).toBe(0)
      expect(responses.filter(({ status }) => status !== 401)).toContainEqual({ status: 503, retryAfter: '3' })
      expect(responses.filter(({ status }) => ![401, 503].includes(status))).toEqual([])
      expect(existsSync(join(home, 'taken'))).toBe(false)
    } finally {
      service.child.kill('SIGKILL')
      await service.ended
    }
  })

  it.runIf(hasIpv6)('is reserved on both loopback addresses', async () => {
    const service = await startService({ isolation: 'none' })
    const other = service.url.replace('127.0.0.1', '[::1]')
    expect((await fetch(`${other}/healthz`)).status).toBe(200)
    await service.restart()
    expect((await fetch(`${other}/healthz`)).status).toBe(200)
    await service.close()
    await expect(fetch(`${other}/healthz`)).rejects.toThrow()
  })

  it.runIf(hasIpv6)('is not used if taken on the other loopback address', async () => {
    const other = createServer().listen(0, '::1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    await expect(startService({ isolation: 'none', port, dataDir: newFolder() })).rejects.toThrow(
      `Port ${port} on ::1 is in use`,
    )
    other.close()
  })
})
