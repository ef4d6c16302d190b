import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { inputOffsetHeader, shellIdHeader } from '#lib/contract/terminals.ts'
import { terminalClose } from '#lib/protocol/terminals.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { ptyTunnels } from './registry.ts'
import { TestPage, until } from './testing.ts'

/** A third-party service without byte counts, scripted per test. */
const service = {
  created: true,
  connectUrl: undefined as string | undefined,
  refusals: [] as number[],
  attached: (_: WebSocket) => undefined as unknown,
  controls: [] as unknown[],
  targets: [] as string[],
  typed: '',
  tunnels: 0,
}
const fresh = { ...service }
const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const answer = async (request: IncomingMessage, response: ServerResponse) => {
  const path = request.url?.split('?')[0] ?? ''
  let body = ''
  for await (const chunk of request) body += chunk
  if (path.endsWith('/create_pty_tunnel')) json(response, { tunnel_key: 'k', auth_token: `token-${++service.tunnels}` })
  else if (path.endsWith('/control')) {
    service.controls.push(JSON.parse(body))
    json(response, { session_name: 's', status: 'ready' })
  } else if (path.startsWith('/pty/'))
    json(response, { created: service.created, attached: false, connect_url: service.connectUrl })
  else if (path === '/v1/axons') json(response, { axons: [], has_more: false })
  else json(response, { message: 'not found' }, 404)
}
const http = createServer((request, response) => void answer(request, response))
const sockets = new WebSocketServer({ noServer: true, handleProtocols: ([first]) => first ?? false })
http.on('upgrade', (request, socket, head) => {
  const status = service.refusals.shift()
  if (status !== undefined) return socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)
  service.targets.push(request.url ?? '')
  sockets.handleUpgrade(request, socket, head, (client) => {
    client.on('message', (data) => {
      service.typed += data
    })
    service.attached(client)
  })
})

let gateway: TestConsole
let cookie: string
let names = 0
const pages: TestPage[] = []
beforeAll(async () => {
  vi.spyOn(console, 'log').mockReturnValue(undefined)
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  gateway = await startConsole({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` })
  cookie = await gateway.signIn('a-key')
})
beforeEach(() => {
  Object.assign(service, fresh, { controls: [], targets: [], refusals: [] })
})
afterEach(() => {
  for (const page of pages.splice(0)) page.socket.terminate()
})
afterAll(async () => {
  await gateway.close()
  for (const client of sockets.clients) client.terminate()
  http.close()
  http.closeAllConnections()
})
const open = () => {
  const page = new TestPage(gateway, `/api/terminals/dbx_1/t${names++}?cols=80&rows=24`, { cookie })
  pages.push(page)
  return page
}

const textOf = (page: TestPage) => Buffer.concat(page.printed).toString()

describe('a service that counts input', () => {
  it('is trusted about what it received after input was dropped', async () => {
    sockets.once('headers', (headers) => headers.push(`${shellIdHeader}: s`, `${inputOffsetHeader}: 0`))
    let client: WebSocket | undefined
    service.attached = (socket) => {
      client = socket
    }
    const page = open()
    await page.told({ t: 'ready', input: { shell: 's', offset: 0 } })
    service.refusals = [503]
    client?.terminate()
    await page.told({ t: 'state', upstream: 'retrying' })
    page.type('lost')
    await page.told({ t: 'dropped', from: 0, to: 4 })
    // The ping is never answered, so only the next connection's count shows what arrived.
    service.attached = (socket) => {
      client = socket
      socket.pong = () => undefined
    }
    const count = (headers: string[]) =>
      headers.push(`${shellIdHeader}: s`, `${inputOffsetHeader}: ${service.typed.length}`)
    sockets.on('headers', count)
    service.created = false
    await until(() => expect(page.last('state')?.upstream).toBe('live'))
    page.type('echo once\n')
    await until(() => expect(service.typed).toBe('echo once\n'))
    page.notices.length = 0
    client?.terminate()
    await page.told({ t: 'typed', n: 14, input: { shell: 's', offset: 10 } })
    sockets.off('headers', count)
    expect(page.last('dropped')).toBeUndefined()
  })
})

describe('a service that does not count output', () => {
  it('is followed by its replay, and full-screen programs redraw', async () => {
    service.created = false
    service.attached = (client) => client.send(Buffer.from('replayed\x1b[6n'))
    const page = open()
    await page.told({ t: 'ready', created: false, from: 'snapshot' })
    await page.shows('replayed')
    expect(service.targets[0]).not.toContain('after')
    await until(() =>
      expect(service.controls).toEqual([
        { action: 'resize', cols: 80, rows: 23 },
        { action: 'resize', cols: 80, rows: 24 },
      ]),
    )
    expect(service.typed).toBe('')
  })

  it('is asked to redraw if a new shell prints nothing, since its prompt may be lost', async () => {
    let client: WebSocket | undefined
    service.attached = (socket) => {
      client = socket
    }
    const page = open()
    await page.told({ t: 'ready', created: true })
    await until(() =>
      expect(service.controls).toEqual([
        { action: 'resize', cols: 80, rows: 23 },
        { action: 'resize', cols: 80, rows: 24 },
      ]),
    )
    client?.send(Buffer.from('prompt$ '))
    await page.shows('prompt')
    expect(service.typed).toBe('')
  })

  it('starts a new epoch after the connection was lost', async () => {
    let times = 0
    let lose = () => undefined as unknown
    service.attached = (client) => {
      client.send(Buffer.from(times++ === 0 ? 'first' : 'first and more'))
      lose = () => client.terminate()
    }
    const page = open()
    await page.told({ t: 'ready', created: true })
    await page.shows('first')
    const { epoch } = page
    service.created = false
    lose()
    await page.told({ t: 'state', upstream: 'retrying' })
    await page.shows('first and more')
    expect(page.epoch).not.toBe(epoch)
    expect(textOf(page)).toBe('first')
    expect(page.last('state')?.upstream).toBe('live')
    expect(service.targets[1]).not.toContain('after')
  })
})

describe('a service that misbehaves', () => {
  it.each(['//evil.example/pty', 'http://evil.example/pty', '/\\evil.example/pty', 'ws://127.0.0.1:1/pty', 'pty'])(
    'is not followed to %s',
    async (connectUrl) => {
      service.connectUrl = connectUrl
      const page = open()
      expect((await page.closed).code).toBe(terminalClose.upstreamLost)
      expect(page.last('problem')?.code).toBe('bad_upstream')
      expect(service.targets).toEqual([])
    },
  )

  it('is retried while unavailable or still attached to the last connection', async () => {
    service.refusals = [503, 409, 502]
    service.attached = (client) => client.send(Buffer.from('here'))
    await open().shows('here')
  })

  it('reuses a tunnel token until it is refused', async () => {
    ptyTunnels(gateway.registry).clear()
    await open().told({ t: 'ready' })
    await open().told({ t: 'ready' })
    expect(service.tunnels).toBe(1)
    service.refusals = [401]
    await open().told({ t: 'ready' })
    expect(service.tunnels).toBe(2)
    await open().told({ t: 'ready' })
    expect(service.tunnels).toBe(2)
  })

  it('ends the terminal after repeated hang-ups', async () => {
    service.attached = (client) => client.close(4009, 'Another client is attached')
    const page = open()
    expect((await page.closed).code).toBe(terminalClose.upstreamLost)
    expect(page.last('problem')).toMatchObject({ code: 'unavailable' })
    expect(service.targets).toHaveLength(4)
  })

  it('makes input in flight uncertain, because it does not count input', async () => {
    service.attached = (client) => client.once('message', () => client.terminate())
    const page = open()
    await page.told({ t: 'ready' })
    page.type('ls\n')
    await page.told({ t: 'dropped', from: 0, to: 3, may_have_arrived: true })
  })

  it('cannot pass shell names that pages would choke on', async () => {
    sockets.once('headers', (headers) => headers.push('x-shell-id: <b>"x\'', 'x-output-offset: -7'))
    service.attached = (client) => client.send(Buffer.from('here'))
    const page = open()
    await page.shows('here')
    expect(page.epoch).toMatch(/^[\w-]+$/)
    expect(page.last('ready')?.offset).toBe(0)
  })
})
