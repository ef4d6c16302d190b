import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { environmentManager, MutationObserver, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket as NodeWebSocket } from 'ws'
import { createClient } from '#lib/client/client.ts'
import { clockOffsetMs, restartClock, syncClock } from '#lib/client/clock.ts'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import type { AlertHealth } from '#lib/protocol/alerts.ts'
import type { LiveItems } from '#lib/protocol/live.ts'
import { makeQueryClient } from '../queries/query-client.ts'
import { LiveConnection, type LiveHealth } from './follow.ts'

// A scripted service.
let service: Server
let watches: ServerResponse[]
let requests: string[]
let respond: (request: IncomingMessage, response: ServerResponse) => void
/** Clock offset of the service. */
let aheadMs: number
let gateway: TestConsole
const leaving: AbortController[] = []

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const stream = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
const say = (response: ServerResponse | undefined, devbox_id: string, eviction_deadline_ms: number) =>
  response?.write(`data: ${JSON.stringify({ devbox_id, eviction_deadline_ms })}\n\n`)

beforeEach(async () => {
  watches = []
  requests = []
  respond = (_, response) => json(response, { devboxes: [], has_more: false })
  aheadMs = 0
  service = createServer((request, response) => {
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString())
    if (request.url === '/v1/accounts/me') return json(response, { id: 'acc', name: 'Scripted' })
    if (request.url === '/healthz') return json(response, {})
    if (request.url?.endsWith('/watch')) {
      watches.push(response)
      return stream(response)
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
  restartClock()
  syncClock(Date.now())
  await gateway.close()
  service.close()
  service.closeAllConnections()
})

const openPage = async () => {
  const cookie = await gateway.signIn('ak_scripted')
  class PageSocket extends NodeWebSocket {
    constructor(address: string) {
      super(address, { headers: { cookie }, origin: gateway.origin })
      this.on('error', () => undefined)
    }
  }
  const connection = new LiveConnection({
    url: () => `${gateway.url.replace('http', 'ws')}/api/live`,
    poll: () => Promise.reject(new Error('Polling is not available')),
    isSignedOut: async () => false,
    onSignedOut: () => undefined,
    WebSocket: PageSocket as unknown as typeof WebSocket,
    times: { checkMs: 20, firstMs: 10, maxMs: 100, lingerMs: 0 },
  })
  const items: LiveItems['alerts.watch'][] = []
  const health: LiveHealth[] = []
  const controller = new AbortController()
  leaving.push(controller)
  connection
    .follow(
      { endpoint: 'alerts.watch' },
      { signal: controller.signal, onItems: (some) => items.push(...some), onHealth: (now) => health.push(now) },
    )
    .catch(() => undefined)
  return {
    cookie,
    leave: () => controller.abort(),
    check: () => connection.check(),
    announced: () => items.flatMap(({ event, data }) => (event === 'alert' ? [data] : [])),
    is: (state: LiveHealth['state']) => expect.poll(() => health.at(-1)?.state).toBe(state),
    /** Health of the eviction stream as the Evictions page shows it. */
    stream: async () =>
      ((await (await gateway.fetch('/api/alerts/health', { cookie })).json()) as AlertHealth).stream.state,
  }
}

/** Tolerance for clock offsets, since a busy machine may be seconds late. */
const aMinuteMs = 60_000

describe('the page', () => {
  it('is current after an hour of sleep, without repeated alarms', async () => {
    const page = await openPage()
    const states = () => page.announced().map(({ state, alarms }) => `${state} #${alarms}`)
    respond = ({ url }, response) =>
      json(response, url?.includes('dbx_1') ? { id: 'dbx_1', status: 'running' } : { devboxes: [], has_more: false })
    await page.is('live')
    await expect.poll(page.stream).toBe('live')
    say(watches[0], 'dbx_1', Date.now() + 660_000)
    await expect.poll(states).toContain('new #1')
    const now = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000)
    page.check()
    await page.is('live')
    // A missed deadline is reported as passed, without another alarm.
    await expect.poll(() => states().at(-1)).toBe('passed #1')
    expect(new Set(states())).toEqual(new Set(['new #1', 'passed #1']))
  })

  it('shares one connection to the service with seven others, whichever leaves', async () => {
    const pages = await Promise.all(Array.from({ length: 8 }, openPage))
    const announced = (some: typeof pages) => some.map((page) => page.announced().at(-1)?.devbox_id)
    for (const page of pages) await page.is('live')
    await expect.poll(() => watches.length).toBe(1)
    say(watches[0], 'dbx_1', Date.now() + 900_000)
    await expect.poll(() => announced(pages)).toEqual(Array(8).fill('dbx_1'))
    const [first, ...others] = pages
    first?.leave()
    say(watches[0], 'dbx_2', Date.now() + 900_000)
    await expect.poll(() => announced(others)).toEqual(Array(7).fill('dbx_2'))
    expect(watches).toHaveLength(1)
  })

  it.each([
    ['ahead', 600_000],
    ['behind', -600_000],
  ])('counts deadlines by the clock of a service ten minutes %s', async (_, ms) => {
    aheadMs = ms
    const page = await openPage()
    await page.is('live')
    await expect.poll(() => Math.abs(clockOffsetMs() - ms)).toBeLessThan(aMinuteMs)
    const deadlineMs = Date.now() + ms + 300_000
    say(watches.at(-1), 'dbx_1', deadlineMs)
    const alert = { devbox_id: 'dbx_1', state: 'new', alarms: 1, deadline_ms: deadlineMs }
    await expect.poll(() => page.announced().at(-1)).toMatchObject(alert)
    // The console dates what it records itself by the same clock.
    const { id } = page.announced().at(-1) ?? {}
    await gateway.ask(page.cookie, 'POST', '/api/alerts/acknowledge', { ids: [id] })
    const { body: health } = await gateway.ask(page.cookie, 'GET', '/api/alerts/health')
    const { body: activity } = await gateway.ask(page.cookie, 'GET', '/api/activity')
    for (const atMs of [health.stream.since_ms, health.looks.looked_ms, activity.activities[0].at_ms])
      expect(Math.abs(atMs - deadlineMs + 300_000)).toBeLessThan(aMinuteMs)
  })
})

describe('a request', () => {
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

  it('reports a 503 after at most two retries of a read, and never retries a write', async () => {
    environmentManager.setIsServer(() => false)
    respond = (_, response) => json(response, { code: 'unavailable', message: 'not now' }, 503)
    const cookie = await gateway.signIn('ak_scripted')
    const api = createClient({
      baseUrl: `${gateway.url}/api`,
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, cookie, origin: gateway.origin } }),
    })
    const client = makeQueryClient()
    client.mount()
    const failed = Promise.withResolvers<void>()
    const leave = new QueryObserver(client, {
      queryKey: ['devboxes'],
      queryFn: () => api.devboxes.list(),
    }).subscribe(({ status }) => status === 'error' && failed.resolve())
    await failed.promise
    leave()
    const create = new MutationObserver(client, { mutationFn: () => api.devboxes.create() })
    await expect(create.mutate()).rejects.toMatchObject({ status: 503 })
    expect(requests).toEqual([...Array(3).fill('GET /v1/devboxes'), 'POST /v1/devboxes'])
    client.unmount()
    environmentManager.setIsServer(() => true)
  })
})
