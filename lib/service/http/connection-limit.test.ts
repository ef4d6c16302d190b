import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const main = join(import.meta.dirname, '../main.ts')

it('refuses new connections with 503 when files run out, says so once, and serves the open ones', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-connections-'))
  const command = `ulimit -n 64; exec "$0" "$@"`
  const args = ['-c', command, process.execPath, main, '--port', '0', '--isolation', 'none', '--data-dir', dataDir]
  const child = spawn('/bin/bash', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const sockets: Socket[] = []
  try {
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
    const [line] = await once(child.stdout, 'data')
    const port = Number(/http:\/\/127\.0\.0\.1:(\d+) /.exec(String(line))?.[1])
    const open = async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      sockets.push(socket)
      await once(socket, 'connect')
      return socket
    }
    const ask = async (socket: Socket, path: string, headers = '') => {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${headers}\r\n`)
      return String(await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => 'closed')]))
    }
    const first = await open()
    expect(await ask(first, '/healthz')).toContain('200 OK')
    for (let i = 0; i < 100; i++) await open()
    const late = await open()
    expect(await ask(late, '/healthz')).toContain('503 Service Unavailable')

    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
    expect(await ask(first, '/v1/axons', `authorization: Bearer ${key}\r\n`)).toContain('200 OK')
    expect(stderr.match(/New connections are refused/g)).toHaveLength(1)

    for (const socket of sockets.splice(1)) socket.destroy()
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  } finally {
    for (const socket of sockets) socket.destroy()
    child.kill('SIGKILL')
    await once(child, 'exit')
    rmSync(dataDir, { recursive: true, force: true })
  }
})
