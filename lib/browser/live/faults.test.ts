import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { environmentManager, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket as NodeWebSocket, WebSocketServer } from 'ws'
import { createClient } from '#lib/client/client.ts'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import { type Alert, type AlertHealth, isOpen } from '#lib/protocol/alerts.ts'
import type { LiveEndpoint, LiveItems, LiveTopic } from '#lib/protocol/live.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { makeQueryClient } from '../queries/query-client.ts'
import { LiveConnection, type LiveHealth } from './follow.ts'

// A scripted service.
let service: Server
let watches: ServerResponse[]
let requests: string[]
let respond: (request: IncomingMessage, response: ServerResponse) => void
let onWatch: (response: ServerResponse) => void
/** Clock offset of the service. */
let aheadMs: number
let gateway: TestConsole
const leaving: AbortController[] = []

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const stream = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
const say = (response: ServerResponse | undefined, devbox_id: string, eviction_deadline_ms = Date.now() + 3_600_000) =>
  response?.write(`data: ${JSON.stringify({ devbox_id, eviction_deadline_ms })}\n\n`)

beforeEach(async () => {
  watches = []
  requests = []
  onWatch = stream
  respond = (_, response) => json(response, { devboxes: [], has_more: false })
  aheadMs = 0
  service = createServer((request, response) => {
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString())
    if (request.url === '/v1/accounts/me') return json(response, { id: 'acc', name: 'Scripted' })
    if (request.url === '/healthz') return json(response, {})
    if (request.url?.endsWith('/watch')) {
      watches.push(response)
      return onWatch(response)
    }
    requests.push(`${request.method} ${request.url?.split('?')[0]}`)
    respond(request, response)
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  gateway = await startConsole({ url: `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
})
afterEach(async () => {
  vi.restoreAllMocks()
  for (const each of leaving.splice(0)) each.abort()
  await gateway.close()
  service.close()
  service.closeAllConnections()
})

const openPage = async (url = `${gateway.url.replace('http', 'ws')}/api/live`, times = {}) => {
  const cookie = await gateway.signIn('ak_scripted')
  class PageSocket extends NodeWebSocket {
    constructor(address: string) {
      super(address, { headers: { cookie }, origin: gateway.origin })
      this.on('error', () => undefined)
    }
  }
  const connection = new LiveConnection({
    url: () => url,
    poll: async (signal) => {
      const answered = await fetch(`${url.replace('ws', 'http')}/now`, { headers: { cookie }, signal })
      if (!answered.ok) throw new Error(`Answered ${answered.status}`)
      return answered.json()
    },
    isSignedOut: async () => false,
    onSignedOut: () => undefined,
    WebSocket: PageSocket as unknown as typeof WebSocket,
    times: { checkMs: 20, firstMs: 10, maxMs: 100, lingerMs: 0, ...times },
  })
  const follow = <E extends LiveEndpoint>(topic: LiveTopic<E>) => {
    const items: LiveItems[E][] = []
    const health: LiveHealth[] = []
    const controller = new AbortController()
    leaving.push(controller)
    connection
      .follow(topic, {
        signal: controller.signal,
        onItems: (some) => items.push(...some),
        onHealth: (now) => health.push(now),
      })
      .catch(() => undefined)
    const is = (state: LiveHealth['state']) => expect.poll(() => health.at(-1)?.state).toBe(state)
    return { items, health, is }
  }
  const evictions = () => {
    const followed = follow({ endpoint: 'alerts.watch' })
    return { ...followed, feed: () => ({ pending: pendingOf(followed.items) }) }
  }
  return { connection, follow, evictions, cookie }
}
const pendingOf = (items: readonly LiveItems['alerts.watch'][]) => {
  const pending = new Map<string, Alert>()
  const update = (alert: Alert) => {
    if (alert.kind === 'eviction' && isOpen(alert)) pending.set(alert.id, alert)
    else pending.delete(alert.id)
  }
  for (const { event, data } of items) {
    if (event === 'snapshot') pending.clear()
    if (event === 'snapshot') for (const alert of data.alerts) update(alert)
    if (event === 'alert') update(data)
  }
  return [...pending.values()]
    .map(({ devbox_id, deadline_ms }) => ({ devbox_id, eviction_deadline_ms: deadline_ms }))
    .sort((a, b) => a.eviction_deadline_ms - b.eviction_deadline_ms || (a.devbox_id < b.devbox_id ? -1 : 1))
}

const timeLeftMs = (health: LiveHealth | undefined, deadlineMs: number, nowMs: number) =>
  deadlineMs - nowMs - (health?.clockOffsetMs ?? 0)

/** PEM files; all but the self-signed one are signed by `authority`. */
const makeCertificates = (folder: string) => {
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const file = (name: string) => readFileSync(join(folder, name), 'utf8')
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=authority', '-days', '9')
  openssl('req', '-x509', ...key, '-keyout', 'own.key', '-out', 'own.pem', '-subj', '/CN=127.0.0.1', '-days', '9')
  writeFileSync(join(folder, 'index'), '')
  writeFileSync(
    join(folder, 'ca.conf'),
    '[ca]\ndefault_ca=one\n[one]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=any\n' +
      'unique_subject=no\ncopy_extensions=copy\nx509_extensions=leaf\n[any]\ncommonName=supplied\n[leaf]\nbasicConstraints=CA:FALSE\n',
  )
  const signed = (name: string, subjectAltName: string, from: string, until: string) => {
    const altName = ['-addext', `subjectAltName=${subjectAltName}`]
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`, ...altName)
    const validity = ['-startdate', from, '-enddate', until]
    const given = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-cert', 'ca.pem', '-keyfile', 'ca.key', '-notext']
    openssl('ca', '-batch', '-config', 'ca.conf', ...validity, ...given)
    return { key: file(`${name}.key`), cert: file(`${name}.pem`) }
  }
  return {
    authority: file('ca.pem'),
    selfSigned: { key: file('own.key'), cert: file('own.pem') },
    expired: signed('expired', 'IP:127.0.0.1', '20200101000000Z', '20210101000000Z'),
    early: signed('early', 'IP:127.0.0.1', '20900101000000Z', '20910101000000Z'),
    otherName: signed('other', 'DNS:elsewhere.example', '20200101000000Z', '20910101000000Z'),
  }
}
/** Health of the eviction stream as the Evictions page shows it. */
const streamHealth = async (cookie: string) =>
  ((await (await gateway.fetch('/api/alerts/health', { cookie })).json()) as AlertHealth).stream
/** Tolerance for clock offsets, since a busy machine may be seconds late. */
const aMinuteMs = 60_000

describe('the service stream', () => {
  it('marks an event missed during a gap as found late', async () => {
    const opened = await openPage()
    const page = opened.follow({ endpoint: 'alerts.watch' })
    await page.is('live')
    await expect.poll(async () => (await streamHealth(opened.cookie)).state).toBe('live')
    onWatch = (response) => {
      stream(response)
      say(response, 'dbx_lost')
    }
    watches[0]?.destroy()
    await expect
      .poll(() => page.items.map(({ data }) => data))
      .toContainEqual(expect.objectContaining({ devbox_id: 'dbx_lost', state: 'new', found_late: true }))
    expect(await streamHealth(opened.cookie)).toMatchObject({ reconnects: 1, gaps: [{ from_ms: expect.any(Number) }] })
  })

  it('reads a stream byte by byte and counts malformed events', async () => {
    const opened = await openPage()
    const page = opened.evictions()
    await opened.follow({ endpoint: 'alerts.watch' }).is('live')
    await page.is('live')
    const text =
      ': a comment\r\nid: 1\r\nevent: eviction\r\ndata:{"devbox_id":"dbx_é",\r\ndata: "eviction_deadline_ms":9000000000000}\r\n\r\n' +
      'data: {"devbox_id":7}\n\ndata: {"devbox_id":"dbx_far","eviction_deadline_ms":9000000000000000}\n\n' +
      'data: {"devbox_id":"dbx_2","eviction_deadline_ms":9000000000000,"new":1}\n\n'
    for (const byte of Buffer.from(text)) watches[0]?.write(Buffer.from([byte]))
    await expect.poll(() => page.feed().pending.map(({ devbox_id }) => devbox_id)).toEqual(['dbx_2', 'dbx_é'])
    expect(await streamHealth(opened.cookie)).toMatchObject({ unreadable: 2 })
  })
})

describe('the page', () => {
  it('is current after an hour of sleep, without repeated alarms', async () => {
    const opened = await openPage()
    const page = opened.evictions()
    const alerts = opened.follow({ endpoint: 'alerts.watch' })
    const announced = () =>
      alerts.items.flatMap((item) => (item.event === 'alert' ? [`${item.data.state} #${item.data.alarms}`] : []))
    respond = ({ url }, response) =>
      json(response, url?.includes('dbx_1') ? { id: 'dbx_1', status: 'running' } : { devboxes: [], has_more: false })
    await page.is('live')
    await expect.poll(async () => (await streamHealth(opened.cookie)).state).toBe('live')
    say(watches[0], 'dbx_1', Date.now() + 660_000)
    await expect.poll(() => page.feed().pending).toHaveLength(1)
    await expect.poll(announced).toContain('new #1')
    const now = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000)
    opened.connection.check()
    await page.is('live')
    await expect.poll(() => page.feed().pending).toEqual([])
    // A missed deadline is reported as passed, without another alarm.
    await expect.poll(() => announced().at(-1)).toBe('passed #1')
    expect(new Set(announced())).toEqual(new Set(['new #1', 'passed #1']))
  })

  it('ignores the clock of frames queued before an hour of sleep', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const sockets = new WebSocketServer({ server })
    const now = Date.now
    let aheadMs = 0
    const deadlineMs = now() + 7_200_000
    const heartbeat = (now_ms: number) => JSON.stringify({ t: 'heartbeat', now_ms })
    const snapshot = (...ids: string[]) => ({
      event: 'snapshot',
      data: {
        alerts: ids.map((devbox_id) => alertOf({ id: devbox_id, devbox_id, deadline_ms: deadlineMs })),
      },
    })
    sockets.on('connection', (socket) => {
      socket.send(heartbeat(now() + aheadMs))
      const item = aheadMs === 0 ? snapshot('dbx_1') : snapshot('dbx_1', 'dbx_2')
      socket.on('message', () => socket.send(JSON.stringify({ t: 'data', id: 1, position: '', items: [item] })))
    })
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    // No timers run while the page sleeps.
    const page = (await openPage(url, { checkMs: 60_000 })).evictions()
    await expect.poll(() => page.feed().pending).toHaveLength(1)
    const [before] = [...sockets.clients]
    const unread = heartbeat(now())
    aheadMs = 3_600_000
    vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs)
    before?.send(unread)
    await expect.poll(() => page.feed().pending).toHaveLength(2)
    for (const health of page.health) expect(Math.abs(health.clockOffsetMs)).toBeLessThan(aMinuteMs)
    const leftMs = timeLeftMs(page.health.at(-1), deadlineMs, Date.now())
    expect(Math.abs(leftMs - (deadlineMs - Date.now()))).toBeLessThan(aMinuteMs)
    for (const socket of sockets.clients) socket.terminate()
    server.close()
  })

  it.each([
    ['ahead', 600_000],
    ['behind', -600_000],
  ])('counts deadlines by the clock of a service ten minutes %s', async (_, ms) => {
    aheadMs = ms
    const opened = await openPage()
    const [page, alerts] = [opened.evictions(), opened.follow({ endpoint: 'alerts.watch' })]
    await page.is('live')
    await expect.poll(() => Math.abs((page.health.at(-1)?.clockOffsetMs ?? 0) - ms)).toBeLessThan(aMinuteMs)
    const deadlineMs = Date.now() + ms + 300_000
    say(watches.at(-1), 'dbx_1', deadlineMs)
    await expect.poll(() => page.feed().pending).toHaveLength(1)
    const leftMs = timeLeftMs(page.health.at(-1), deadlineMs, deadlineMs - ms - 300_000)
    expect(Math.abs(leftMs - 300_000)).toBeLessThan(aMinuteMs)
    const announced = expect.objectContaining({ devbox_id: 'dbx_1', state: 'new', alarms: 1 })
    await expect.poll(() => alerts.items).toContainEqual({ event: 'alert', data: announced })
  })

  it('follows a jump of the console clock at the next heartbeat', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const sockets = new WebSocketServer({ server })
    const beat = (aheadMs: number) => {
      for (const socket of sockets.clients)
        socket.send(JSON.stringify({ t: 'heartbeat', now_ms: Date.now() + aheadMs }))
    }
    const page = (await openPage(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)).evictions()
    await expect.poll(() => sockets.clients.size).toBe(1)
    const offset = () => page.health.at(-1)?.clockOffsetMs ?? 0
    beat(0)
    beat(120_000)
    await expect.poll(() => Math.abs(offset() - 120_000)).toBeLessThan(10_000)
    beat(0)
    await expect.poll(() => Math.abs(offset())).toBeLessThan(10_000)
    for (const socket of sockets.clients) socket.terminate()
    server.close()
  })

  it('polls behind a proxy that blocks WebSockets, and connects once it allows them', async () => {
    const held: Duplex[] = []
    let holds = true
    const target = new URL(gateway.url)
    const passOn = ({ url = '', method, headers }: IncomingMessage) =>
      forward({
        host: target.hostname,
        port: target.port,
        path: url,
        method,
        headers: { ...headers, host: target.host },
      })
    const proxy = createServer((asked, response) => {
      asked.pipe(
        passOn(asked).on('response', (answered) => {
          response.writeHead(answered.statusCode ?? 502, answered.headers)
          answered.pipe(response)
        }),
      )
    })
    proxy.on('upgrade', (asked, socket: Duplex) => {
      if (holds) return held.push(socket)
      const up = passOn(asked).on('upgrade', ({ rawHeaders }, upstream: Duplex) => {
        const lines = rawHeaders.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('')
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n`)
        upstream.pipe(socket).pipe(upstream)
        for (const each of [socket, upstream]) each.on('error', () => socket.destroy())
      })
      up.end()
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const url = `ws://127.0.0.1:${(proxy.address() as AddressInfo).port}/api/live`
    onWatch = (response) => {
      stream(response)
      say(response, 'dbx_1', 9e12)
    }
    respond = ({ url }, response) =>
      json(response, url?.includes('dbx_1') ? { id: 'dbx_1', status: 'running' } : { devboxes: [], has_more: false })
    const opened = await openPage(url, { pollAfterMs: 100, pollMs: 50, lostMs: 2_000 })
    const [page, alerts] = [opened.evictions(), opened.follow({ endpoint: 'alerts.watch' })]
    const log = opened.follow({ endpoint: 'logs.tail', params: { id: 'dbx_1' } })
    await page.is('polled')
    await alerts.is('polled')
    await expect.poll(() => page.feed().pending).toEqual([{ devbox_id: 'dbx_1', eviction_deadline_ms: 9e12 }])
    const reported = () =>
      alerts.items.flatMap((item) =>
        item.event === 'snapshot' ? item.data.alerts.map(({ devbox_id }) => devbox_id) : [],
      )
    await expect.poll(reported).toContain('dbx_1')
    // Event streams can't be polled.
    expect(log.health.map(({ state }) => state)).not.toContain('polled')
    say(watches.at(-1), 'dbx_2', 8e12)
    await expect.poll(() => page.feed().pending.map(({ devbox_id }) => devbox_id)).toEqual(['dbx_2', 'dbx_1'])
    expect(page.health.map(({ state }) => state)).not.toContain('live')

    holds = false
    for (const socket of held) socket.destroy()
    await page.is('live')
    await alerts.is('live')
    say(watches.at(-1), 'dbx_3', 7e12)
    await expect.poll(() => page.feed().pending.map(({ devbox_id }) => devbox_id)).toContain('dbx_3')
    proxy.closeAllConnections()
    proxy.close()
  })
})

describe('a request', () => {
  const ask = async (path: string, init: Parameters<TestConsole['fetch']>[1] = {}) =>
    gateway.fetch(path, { cookie: await gateway.signIn('ak_scripted'), ...init })
  const headers = { 'content-type': 'application/json' }

  it('retries a read once after Retry-After, even if the page was reopened', async () => {
    environmentManager.setIsServer(() => false)
    const times: number[] = []
    respond = (_, response) => {
      times.push(Date.now())
      if (times.length > 1) return json(response, { devboxes: [], has_more: false })
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '2' }).end('{}')
    }
    const client = makeQueryClient()
    client.mount()
    const api = createClient({ baseUrl: gateway.registry.service.url(), headers: {} })
    const open = () => {
      const page = new QueryObserver(client, { queryKey: ['devboxes'], queryFn: () => api.devboxes.list() })
      return { page, leave: page.subscribe(() => undefined) }
    }
    const first = open()
    await expect.poll(() => first.page.getCurrentResult().status).toBe('error')
    first.leave()
    const { page, leave } = open()
    expect(page.getCurrentResult().fetchStatus).toBe('idle')
    await expect.poll(() => page.getCurrentResult().status).toBe('success')
    expect(times).toHaveLength(2)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1_990)
    leave()
    client.unmount()
    environmentManager.setIsServer(() => true)
  })

  it('never repeats a write after a 503', async () => {
    respond = (_, response) => json(response, { code: 'unavailable', message: 'not now' }, 503)
    expect((await ask('/api/v1/devboxes')).status).toBe(503)
    expect((await ask('/api/v1/devboxes', { method: 'POST', headers, body: '{}' })).status).toBe(503)
    expect(requests).toEqual(['GET /v1/devboxes', 'POST /v1/devboxes'])
    expect(makeQueryClient().getDefaultOptions().mutations).toMatchObject({ retry: false })
  })

  it('distinguishes an unknown host and each kind of invalid certificate, without leaking the key', async () => {
    const signIn = async (url: string) => {
      const other = await startConsole({ url })
      const body = JSON.stringify({ api_key: 'ak_secret' })
      const answered = await other.fetch('/api/session', { method: 'POST', headers, body })
      const text = await answered.text()
      await other.close()
      expect(text).not.toContain('ak_secret')
      return JSON.parse(text).message
    }
    expect(await signIn('http://nowhere.invalid')).toMatch(/nowhere\.invalid: host name not found/)
    const plain = gateway.registry.service.url().replace('http:', 'https:')
    expect(await signIn(plain)).toMatch(/: the TLS handshake failed/)
    const folder = mkdtempSync(join(tmpdir(), 'devdeck-certificates-'))
    const trusted = getCACertificates('default')
    try {
      const { authority, ...certificates } = makeCertificates(folder)
      const words: Record<keyof typeof certificates, RegExp> = {
        selfSigned: /its certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
        expired: /its certificate has expired/,
        early: /its certificate is not valid yet/,
        otherName: /its certificate is for another host name/,
      }
      setDefaultCACertificates([...trusted, authority])
      for (const [kind, pair] of Object.entries(certificates)) {
        const server = createTlsServer(pair, (_, response) => json(response, { id: 'acc', name: 'TLS' })).listen(0)
        await once(server, 'listening')
        const said = await signIn(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
        expect(said).toMatch(words[kind as keyof typeof certificates])
        server.close()
      }
    } finally {
      setDefaultCACertificates(trusted)
      rmSync(folder, { recursive: true })
    }
  })

  it('polls after a cancel until the run is canceled', async () => {
    const run = { id: 'bmr_1', benchmark_id: null, name: 'run', state: 'running', start_time_ms: 1, metadata: {} }
    const states = ['running', 'running', 'canceled']
    respond = (request, response) =>
      json(
        response,
        request.method === 'POST' ? run : { ...run, state: states.length > 1 ? states.shift() : states[0] },
      )
    const page = (await openPage()).follow({ endpoint: 'benchmarkRuns.get', params: { id: 'bmr_1' } })
    const cancelled = await ask('/api/v1/benchmarks/runs/bmr_1/cancel', { method: 'POST', headers, body: '{}' })
    expect((await cancelled.json()).state).toBe('running')
    await expect.poll(() => page.items.map(({ state }) => state)).toEqual(['running', 'canceled'])
  })
})
