import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { pause } from '#lib/client/backoff.ts'
import { axons } from '#lib/contract/axons.ts'
import { type LiveNotice, type LiveRequest, liveClose } from '#lib/protocol/live.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { subscribe, subscriptionTimes } from './subscription.ts'

/** A service whose responses the test scripts. */
let service: Awaited<ReturnType<typeof startServer>>
let gateway: TestConsole
let cookie: string
let opened: { request: IncomingMessage; response: ServerResponse }[]
let answer: (response: ServerResponse, request: IncomingMessage) => void

beforeAll(async () => {
  service = await startServer((request, response) => {
    if (request.url === '/healthz') return response.writeHead(404).end()
    if (request.url === '/v1/accounts/me')
      return response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"acc","name":"Scripted"}')
    opened.push({ request, response })
    return answer(response, request)
  })
  gateway = await startConsole(service)
  cookie = await gateway.signIn('ak_scripted')
})
afterAll(async () => {
  await gateway.close()
  service.close()
})

const stream = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
const say = (response: ServerResponse | undefined, item: unknown) =>
  response?.write(`data: ${JSON.stringify(item)}\n\n`)

const pages: RawPage[] = []
beforeEach(() => {
  opened = []
  answer = stream
})
afterEach(() => {
  for (const page of pages.splice(0)) page.socket.terminate()
})

/** A page that sends exactly what the test dictates. */
class RawPage {
  readonly socket: WebSocket
  readonly notices: LiveNotice[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  /** Characters of data frames. */
  received = 0

  constructor({ origin = gateway.origin, ...headers }: Record<string, string> = { cookie }) {
    this.socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/live`, { headers, origin })
    this.socket.on('error', () => undefined)
    this.socket.on('message', (data) => {
      const notice = JSON.parse(String(data)) as LiveNotice
      if (notice.t === 'data') this.received += String(data).length
      this.notices.push(notice)
    })
    this.closed = once(this.socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }))
    // Only some tests wait for the end.
    this.closed.catch(() => undefined)
    pages.push(this)
  }

  ask(request: LiveRequest) {
    this.socket.send(JSON.stringify(request))
  }

  told(notice: Partial<LiveNotice>) {
    return expect.poll(() => this.notices).toContainEqual(expect.objectContaining(notice))
  }

  items(id: number) {
    return this.notices.flatMap((notice) => (notice.t === 'data' && notice.id === id ? notice.items : []))
  }
}

const open = async () => {
  const page = new RawPage()
  await once(page.socket, 'open')
  return page
}
const stdout = { endpoint: 'executions.streamStdout', params: { devbox_id: 'dbx_1', execution_id: 'exe_1' } } as const
const axon = { endpoint: 'axons.subscribe', params: { id: 'axn_1' } } as const

describe('access to /api/live', () => {
  it.each([
    ['without a session', {}, 401],
    ['for a page of another site', { origin: 'https://evil.example' }, 403],
    ['under another name', { host: 'evil.example' }, 403],
  ])('are shut %s', async (_, headers, status) => {
    const page = new RawPage({ ...(status === 401 ? {} : { cookie }), ...headers })
    const [, response] = await once(page.socket, 'unexpected-response')
    expect(response.statusCode).toBe(status)
  })

  it('close when their own session signs out', async () => {
    const own = await gateway.signIn('ak_scripted')
    const leaving = new RawPage({ cookie: own })
    const staying = await open()
    await leaving.told({ t: 'heartbeat' })
    await gateway.fetch('/api/session', { method: 'DELETE', cookie: own })
    expect(await leaving.closed).toEqual({ code: liveClose.signedOut, reason: 'Signed out' })
    expect(staying.socket.readyState).toBe(WebSocket.OPEN)
  })
})

describe('an invalid frame', () => {
  it.each([
    ['no JSON', 'hello'],
    ['another shape', '{"t":"sing"}'],
    ['a topic nobody can follow', '{"t":"subscribe","id":1,"topic":{"endpoint":"devboxes.createPtyTunnel"}}'],
    ['a call that is no stream', '{"t":"subscribe","id":1,"topic":{"endpoint":"axons.delete","params":{"id":"a"}}}'],
    ['a frame too long', JSON.stringify({ t: 'unsubscribe', id: 1, more: 'x'.repeat(5_000) })],
    ['bytes', Buffer.from('{"t":"ack","n":1}')],
  ])('%s closes the connection', async (_, frame) => {
    const page = await open()
    page.socket.send(frame, { binary: typeof frame !== 'string' })
    expect((await page.closed).code).toBe(liveClose.invalid)
    expect(opened).toEqual([])
  })

  it.each([
    ['the same subscription twice', [1, 1], liveClose.invalid],
    ['too many subscriptions', Array.from({ length: 129 }, (_, id) => id), liveClose.tooMany],
  ])('%s: closes the connection and all its streams', async (_, ids, code) => {
    const page = await open()
    for (const id of ids) page.ask({ t: 'subscribe', id, topic: stdout })
    expect((await page.closed).code).toBe(code)
    await expect.poll(() => opened.every(({ request }) => request.destroyed)).toBe(true)
  })

  it('an id with path segments ends the subscription', async () => {
    const page = await open()
    page.ask({ t: 'subscribe', id: 1, topic: { endpoint: 'logs.tail', params: { id: '..' } } })
    await page.told({ t: 'end', id: 1, error: expect.objectContaining({ code: 'invalid_argument' }) })
    expect(opened).toEqual([])
  })
})

describe('a subscription', () => {
  it('closes its upstream when the page unsubscribes', async () => {
    const page = await open()
    page.ask({ t: 'subscribe', id: 1, topic: stdout })
    await page.told({ t: 'state', id: 1, state: 'live' })
    const closed = once(opened[0]!.response, 'close')
    page.ask({ t: 'unsubscribe', id: 1 })
    await closed
  })

  it('resumes at the byte where it broke and is lost meanwhile', async () => {
    const page = await open()
    page.ask({ t: 'subscribe', id: 1, topic: stdout, position: '3' })
    await page.told({ t: 'state', id: 1, state: 'live' })
    say(opened[0]?.response, { output: 'é' })
    await page.told({ t: 'data', id: 1, position: '5' })
    opened[0]?.response.destroy()
    await page.told({ t: 'state', id: 1, state: 'lost' })
    await expect.poll(() => opened).toHaveLength(2)
    expect(opened.map(({ request }) => request.url?.split('?')[1])).toEqual(['offset=3', 'offset=5'])
  })

  it('ends with the error when retrying cannot help', async () => {
    answer = (response) =>
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"code":"not_found","message":"gone"}')
    const page = await open()
    page.ask({ t: 'subscribe', id: 1, topic: axon })
    await page.told({ t: 'end', id: 1, error: expect.objectContaining({ code: 'not_found', message: 'gone' }) })
    expect(opened).toHaveLength(1)
  })

  it('delivers each changed response of a polled call once', async () => {
    let state = 'running'
    answer = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'bmr_1', state }))
    const page = await open()
    const topic = { endpoint: 'benchmarkRuns.get', params: { id: 'bmr_1' } } as const
    page.ask({ t: 'subscribe', id: 1, topic })
    await expect.poll(() => opened.length).toBeGreaterThan(1)
    state = 'completed'
    await expect.poll(() => page.items(1)).toHaveLength(2)
    expect(page.items(1)).toEqual([
      expect.objectContaining({ state: 'running' }),
      expect.objectContaining({ state: 'completed' }),
    ])
  })

  it('delivers unusual items that pages can read and skips the rest', async () => {
    const page = await open()
    page.ask({ t: 'subscribe', id: 1, topic: { endpoint: 'logs.tail', params: { id: 'dbx_1' } } })
    await expect.poll(() => opened).toHaveLength(1)
    for (const each of [null, 7, { timestamp_ms: 'soon', message: { odd: true } }, [], { timestamp_ms: 2 }])
      say(opened[0]?.response, each)
    const odd = { timestamp_ms: null, level: '', source: '', message: '{"odd":true}' }
    await expect.poll(() => page.items(1)).toEqual([odd, { timestamp_ms: 2, level: '', source: '' }])
  })

  it('delivers only the requested source of a log, also after a reconnect', async () => {
    const record = (source: string, message: string) => ({ timestamp_ms: 1, level: 'info', source, message })
    const log = [record('exec', 'one'), record('stats', 'a'), record('exec', 'two'), record('stats', 'b')]
    const page = await open()
    const topic = { endpoint: 'logs.tail', params: { id: 'dbx_1' }, query: { source: 'stats' } } as const
    page.ask({ t: 'subscribe', id: 1, topic })
    await expect.poll(() => opened).toHaveLength(1)
    for (const each of log.slice(0, 3)) say(opened[0]?.response, each)
    await expect.poll(() => page.items(1)).toEqual([log[1]])
    opened[0]?.response.destroy()
    await expect.poll(() => opened).toHaveLength(2)
    for (const each of log) say(opened[1]?.response, each)
    await expect.poll(() => page.items(1)).toEqual([log[1], log[3]])
  })

  it('adds starts and ends of commands to a source of a log if asked', async () => {
    const about = { timestamp_ms: 1, level: 'info', source: 'exec', cmd_id: 'a' }
    const [start, output, end] = [
      { ...about, cmd: 'make' },
      { ...about, message: 'output' },
      { ...about, exit_code: 0 },
    ]
    const stats = { timestamp_ms: 1, level: 'info', source: 'stats', message: 'a' }
    const page = await open()
    const query = { source: 'stats', commands: true }
    page.ask({ t: 'subscribe', id: 1, topic: { endpoint: 'logs.tail', params: { id: 'dbx_1' }, query } })
    await expect.poll(() => opened).toHaveLength(1)
    for (const each of [start, output, stats, end]) say(opened[0]?.response, each)
    await expect.poll(() => page.items(1)).toEqual([start, stats, end])
  })

  it('restarts when the first log record has changed', async () => {
    const record = (message: string) => ({ timestamp_ms: 1, level: 'info', source: 'exec', message })
    const page = await open()
    page.ask({ t: 'subscribe', id: 1, topic: { endpoint: 'logs.tail', params: { id: 'dbx_1' } } })
    await expect.poll(() => opened).toHaveLength(1)
    for (const message of ['one', 'two']) say(opened[0]?.response, record(message))
    await expect.poll(() => page.items(1)).toHaveLength(2)
    opened[0]?.response.destroy()
    await expect.poll(() => opened).toHaveLength(2)
    for (const message of ['one', 'two', 'three']) say(opened[1]?.response, record(message))
    await expect.poll(() => page.items(1)).toHaveLength(3)
    opened[1]?.response.destroy()
    await expect.poll(() => opened).toHaveLength(3)
    for (const message of ['two', 'three', 'four']) say(opened[2]?.response, record(message))
    await page.told({ t: 'resync', id: 1 })
    await expect.poll(() => page.items(1)).toEqual(['one', 'two', 'three', 'two', 'three', 'four'].map(record))
  })
})

describe('silence', () => {
  it('reopens a silent stream instead of ending it', async () => {
    const leaving = new AbortController()
    const outlet = { data: vi.fn(), room: () => undefined, resync: vi.fn(), state: vi.fn(), end: vi.fn() }
    let opened = 0
    const topic = {
      endpoint: axons.subscribe,
      async *read({ signal }: { signal: AbortSignal }) {
        yield { text: String(++opened), position: '' }
        await pause(1_000_000, signal)
      },
    }
    const times = { ...subscriptionTimes, silenceMs: 50 }
    const ended = subscribe({
      session: { account: { id: '', name: '' }, api_key: '' },
      topic,
      asked: {},
      position: undefined,
      outlet,
      signal: leaving.signal,
      times,
    })
    await expect.poll(() => opened).toBeGreaterThan(2)
    leaving.abort()
    await ended
    expect([outlet.state, outlet.end].flatMap(({ mock }) => mock.calls)).toEqual([])
  })
})

describe('a page that does not read', () => {
  const event = (sequence: number) => ({ axon_id: 'axn_1', sequence, payload: 'x'.repeat(1_000) })
  const count = 4_000

  it('receives at most 512 KiB of a flood, and the rest once it reads on', async () => {
    answer = (response) => {
      stream(response)
      for (let sequence = 1; sequence <= count; sequence++) say(response, event(sequence))
    }
    const page = await open()
    page.ask({ t: 'subscribe', id: 1, topic: axon })
    await expect.poll(() => page.received).toBeGreaterThan(512 * 1024)
    // Small messages still get through: another subscription opens.
    page.ask({ t: 'subscribe', id: 2, topic: stdout })
    await page.told({ t: 'state', id: 2, state: 'live' })
    expect(page.received).toBeLessThan(700 * 1024)
    while (page.items(1).length < count) {
      page.ask({ t: 'ack', n: page.received })
      await once(page.socket, 'message')
    }
    expect(page.items(1).map((item) => (item as { sequence: number }).sequence)).toEqual(
      Array.from({ length: count }, (_, index) => index + 1),
    )
  })

  it('costs no memory when it acknowledges everything but reads nothing', async () => {
    let asked = 0
    answer = (response) => {
      stream(response)
      const more = () => {
        while (asked < 50_000 && response.write(`data: ${JSON.stringify(event(++asked))}\n\n`));
        response.once('drain', more)
      }
      more()
    }
    const page = await open()
    page.ask({ t: 'subscribe', id: 1, topic: axon })
    await expect.poll(() => page.items(1)).not.toEqual([])
    page.socket.pause()
    page.ask({ t: 'ack', n: Number.MAX_SAFE_INTEGER })
    // Opening and closing another page takes long enough for all of it to arrive, if it were sent.
    for (let times = 0; times < 50; times++) {
      page.ask({ t: 'ack', n: Number.MAX_SAFE_INTEGER })
      const other = new RawPage()
      await once(other.socket, 'message')
      other.socket.terminate()
    }
    expect(asked).toBeLessThan(50_000)
  })

  it('gets the alerts it missed in one snapshot', async () => {
    let watch: ServerResponse | undefined
    answer = (response, request) => {
      // The alert book also polls lists and looks up devboxes.
      if (!/watch$|axons/.test(request.url ?? '')) return response.writeHead(404).end()
      stream(response)
      if (request.url?.endsWith('/evictions/watch')) watch = response
      else for (let sequence = 1; sequence <= count; sequence++) say(response, event(sequence))
    }
    const page = await open()
    page.ask({ t: 'subscribe', id: 1, topic: { endpoint: 'alerts.watch' } })
    await expect.poll(() => page.items(1)).toHaveLength(1)
    page.ask({ t: 'subscribe', id: 2, topic: axon })
    await expect.poll(() => page.received).toBeGreaterThan(512 * 1024)
    const other = await open()
    other.ask({ t: 'subscribe', id: 1, topic: { endpoint: 'alerts.watch' } })
    await expect.poll(() => other.items(1)).toHaveLength(1)
    const deadline = Date.now() + 3_600_000
    for (let i = 0; i < 100; i++) say(watch, { devbox_id: `dbx_${i}`, eviction_deadline_ms: deadline })
    // Once another page has them all, the slow one has missed them.
    await expect.poll(() => other.items(1).length, { timeout: 20_000 }).toBeGreaterThan(100)
    expect(page.items(1)).toHaveLength(1)
    page.ask({ t: 'unsubscribe', id: 2 })
    page.ask({ t: 'ack', n: page.received })
    await page.told({ t: 'resync', id: 1 })
    await expect.poll(() => page.items(1)).toHaveLength(2)
    expect(page.items(1)[1]).toMatchObject({ event: 'snapshot', data: { alerts: { length: 100 } } })
  })
})
