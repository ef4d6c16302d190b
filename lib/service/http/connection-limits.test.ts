import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const main = join(import.meta.dirname, '../main.ts')

/** With 64 descriptors the service allows 48 connections, 12 of them unauthenticated per address. */
const startSmall = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-connections-'))
  const command = `ulimit -n 64; exec "$0" "$@"`
  const args = ['-c', command, process.execPath, main, '--port', '0', '--isolation', 'none', '--data-dir', dataDir]
  const child = spawn('/bin/bash', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const [line] = await once(child.stdout, 'data')
  const port = Number(/http:\/\/127\.0\.0\.1:(\d+) /.exec(String(line))?.[1])
  const sockets: Socket[] = []
  return {
    url: `http://127.0.0.1:${port}`,
    key: readFileSync(join(dataDir, 'api-key'), 'utf8').trim(),
    stderr: () => stderr,
    open: async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      sockets.push(socket)
      await once(socket, 'connect')
      return socket
    },
    get: async (socket: Socket, path: string, headers = '') => {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${headers}\r\n`)
      return String(await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => 'closed')]))
    },
    closeAll: () => {
      for (const socket of sockets.splice(0)) socket.destroy()
    },
    end: async () => {
      for (const socket of sockets) socket.destroy()
      child.kill('SIGKILL')
      await once(child, 'exit')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

let service: Awaited<ReturnType<typeof startSmall>>
beforeEach(async () => {
  service = await startSmall()
})
afterEach(() => service.end())

it('rejects new connections with 503 when descriptors run out, and serves the open ones', async () => {
  const authorization = `authorization: Bearer ${service.key}\r\n`
  const first = await service.open()
  expect(await service.get(first, '/healthz')).toContain('200 OK')
  // Authenticated, because the oldest unauthenticated ones would be closed instead.
  const responses: string[] = []
  for (let i = 0; i < 100; i++) responses.push(await service.get(await service.open(), '/v1/axons', authorization))
  expect(responses[0]).toContain('200 OK')
  expect(responses[99]).toContain('503 Service Unavailable')
  expect(await service.get(first, '/v1/axons', authorization)).toContain('200 OK')
  await expect.poll(() => service.stderr().match(/New connections are refused/g)).toHaveLength(1)

  service.closeAll()
  await expect.poll(async () => (await fetch(`${service.url}/healthz`)).status).toBe(200)
})

it('closes the oldest of many unauthenticated connections of an address', async () => {
  const authorization = `authorization: Bearer ${service.key}\r\n`
  const known = await service.open()
  expect(await service.get(known, '/v1/axons', authorization)).toContain('200 OK')
  const session: ClientHttp2Session = connectHttp2(service.url)
  const getOverHttp2 = async () => {
    const [headers] = await once(
      session.request({ ':path': '/v1/axons', authorization: `Bearer ${service.key}` }).resume(),
      'response',
    )
    return headers[':status']
  }
  expect(await getOverHttp2()).toBe(200)

  const unauthenticated = await Promise.all(Array.from({ length: 100 }, service.open))
  for (const socket of unauthenticated) socket.write('GET / HTTP/1.1\r\n')
  expect(await service.get(await service.open(), '/v1/axons', authorization)).toContain('200 OK')
  await expect.poll(() => unauthenticated.filter(({ closed }) => closed).length).toBe(100 - 11)
  await expect
    .poll(() => service.stderr().match(/Closing the oldest connections of a client: it has 12/g))
    .toHaveLength(1)

  expect(await service.get(known, '/v1/axons', authorization)).toContain('200 OK')
  expect(await getOverHttp2()).toBe(200)
  session.destroy()
})
