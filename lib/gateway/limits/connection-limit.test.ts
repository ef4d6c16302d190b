import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'

/** 64 open files: 48 for connections, 12 of them for a client that isn't signed in. */
const startSmall = async (isProxied: boolean) => {
  const script = `
    import { startConsole } from '#lib/gateway/testing.ts'
    const { url } = await startConsole({ url: '${service.url}' }, { isTrustedProxy: (_, hop) => ${isProxied} && hop < 1 })
    console.log(url)`
  const command = `ulimit -n 64; exec "$0" --input-type=module -e "$1"`
  child = spawn('/bin/bash', ['-c', command, process.execPath, script], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stderr?.setEncoding('utf8').on('data', (text) => (stderr += text))
  const [url] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line')
  const { host, port } = new URL(String(url))
  const answer = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: String(url), connection: 'close' },
    body: JSON.stringify({ api_key: service.key }),
  })
  const cookie = `cookie: ${answer.headers.get('set-cookie')?.split(';')[0]}\r\n`
  const open = async (allowHalfOpen = false) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen }).on('error', () => undefined)
    sockets.push(socket.resume())
    await once(socket, 'connect')
    return socket
  }
  const head = `HEAD /api/session HTTP/1.1\r\nhost: ${host}\r\n`
  const answerTo = async (socket: Socket, request: string) => {
    socket.write(request)
    return String(await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => 'closed')]))
  }
  const ask = (socket: Socket, headers = '') => answerTo(socket, `${head}${headers}\r\n`)
  const upgrade = `GET /api/live HTTP/1.1\r\nhost: ${host}\r\norigin: ${url}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n`
  return { open, answerTo, ask, head, cookie, upgrade }
}

let service: TestService
let child: ChildProcess
let stderr = ''
const sockets: Socket[] = []
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  if (child.kill('SIGKILL')) await once(child, 'exit')
  stderr = ''
})

const openOf = (all: Socket[]) => all.filter(({ closed }) => !closed).length

it('refuses new connections with 503 when files run out, logs it once, and serves the open ones', async () => {
  const { open, ask, cookie } = await startSmall(false)
  const first = await open()
  const answers: string[] = []
  // Each is signed in; signed-out connections make room for each other.
  for (let i = 0; i < 100; i++) answers.push(await ask(await open(), cookie))
  expect(answers[0]).toContain('200 OK')
  expect(answers[99]).toContain('503 Service Unavailable')
  expect(await ask(first, cookie)).toContain('200 OK')
  expect(stderr.match(/New connections are refused/g)).toHaveLength(1)
})

it('closes the oldest of many signed-out connections of an address, logs it once, and lets everyone in', async () => {
  const { open, answerTo, ask, cookie, upgrade } = await startSmall(false)
  const [idle, live] = [await open(), await open()]
  expect(await ask(idle, cookie)).toContain('200 OK')
  expect(await answerTo(live, `${upgrade}${cookie}\r\n`)).toContain('101 Switching Protocols')

  const strangers: Socket[] = []
  for (const start of ['', 'GET / HTTP/1.1\r\n', 'POST /api/session HTTP/1.1\r\ncontent-length: 9\r\n\r\n'])
    for (let i = 0; i < 50; i++) {
      const socket = await open()
      strangers.push(socket)
      if (start !== '') socket.write(start)
    }
  expect(await ask(await open(), cookie)).toContain('200 OK')
  await expect.poll(() => openOf(strangers)).toBeLessThan(13)
  expect(stderr.match(/Closing the oldest connections of a client: it has 12/g)).toHaveLength(1)
  expect(await ask(idle, cookie)).toContain('200 OK')
  expect(live.closed).toBe(false)
})

it('counts each client of a proxy by itself, and a connection as that of its last request', async () => {
  const { open, ask, cookie } = await startSmall(true)
  const as = (client: string) => `x-forwarded-for: 6.6.6.6, ${client}\r\n`
  const other = await open()
  expect(await ask(other, as('192.0.2.2'))).toContain('401 Unauthorized')
  const shared = await open()
  expect(await ask(shared, as('192.0.2.1') + cookie)).toContain('200 OK')
  expect(await ask(shared, as('192.0.2.1'))).toContain('401 Unauthorized')
  const own = await open()
  expect(await ask(own, as('192.0.2.1') + cookie)).toContain('200 OK')
  for (let i = 0; i < 12; i++) expect(await ask(await open(), as('192.0.2.1'))).toContain('401 Unauthorized')
  await expect.poll(() => shared.closed).toBe(true)
  expect(await ask(own, as('192.0.2.1') + cookie)).toContain('200 OK')
  expect(await ask(other, as('192.0.2.2'))).toContain('401 Unauthorized')
})

it('closes a refused upgrade and an incomplete request whose client keeps its side open', async () => {
  const { open, answerTo, head, upgrade } = await startSmall(false)
  const openFiles = () => readdirSync(`/proc/${child.pid}/fd`).length
  const before = openFiles()
  expect(await answerTo(await open(true), `${upgrade}\r\n`)).toContain('401 Unauthorized')
  expect(await answerTo(await open(true), head)).toContain('408 Request Timeout')
  await expect.poll(openFiles).toBe(before)
})

it('responds to pipelined requests in order, and cuts a connection with too many', async () => {
  const { open, ask, answerTo, head } = await startSmall(false)
  const socket = await open()
  let said = ''
  socket.on('data', (bytes) => {
    said += bytes
  })
  socket.write(`${head}\r\n${head.replace('/api/session', '/nothing')}\r\n${head}connection: close\r\n\r\n`)
  await once(socket, 'close')
  expect(said.match(/(?<=HTTP\/1.1 )\d+/g)).toEqual(['401', '404', '401'])

  expect(await answerTo(await open(), `${head}\r\n`.repeat(40))).toBe('closed')
  expect(await ask(await open())).toContain('401 Unauthorized')
})
