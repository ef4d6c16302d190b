import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Eviction, pendingCountHeader } from '#lib/contract/evictions.ts'
import type { Alert, AlertItem } from '#lib/protocol/alerts.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { alertBookFor, startWebhook } from './alert-books.ts'
import { evictionWatches } from './eviction-watch.ts'

const soon = { timeout: 60_000 }
const hour = 3_600_000

/** A service that repeats `pending` on every connection of the watch, and says how many they are if it `counts`. */
let service: Server
let pending: Eviction[]
let counts: boolean
let watches: ServerResponse[]
/** Statuses that paths answer with instead of what they are asked for. */
let failing: Record<string, number>
let devboxes: Record<string, Record<string, unknown>>
/** Messages the webhook got, as `raised dbx_1`. */
let received: string[]
let receiver: Server
let gateway: TestConsole
let cookie: string

const key = 'ak_scripted'
const owner = { account: { id: 'acc', name: 'Ada' }, api_key: key }
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const eventOf = (eviction: Eviction) => `data: ${JSON.stringify(eviction)}\n\n`
const eviction = (devbox_id: string, inMs = hour): Eviction => ({
  devbox_id,
  eviction_deadline_ms: Date.now() + inMs,
})

const watch = (response: ServerResponse) => {
  watches.push(response)
  const headers = counts ? { [pendingCountHeader]: String(pending.length) } : {}
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
  response.write(`: connected\n\n${pending.map(eventOf).join('')}`)
}

beforeEach(async () => {
  pending = []
  counts = true
  watches = []
  failing = {}
  devboxes = {}
  received = []
  service = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://service')
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const status = failing[pathname]
    if (status !== undefined) return answer(status, { message: 'not now' })
    if (pathname.endsWith('/watch')) return watch(response)
    if (pathname === '/v1/accounts/me') return answer(200, owner.account)
    if (pathname === '/v1/devboxes') return answer(200, { devboxes: [], has_more: false, total_count: null })
    if (pathname === '/v1/axons') return answer(200, { axons: [], has_more: false, total_count: 0 })
    const id = pathname.split('/')[3] ?? ''
    return answer(200, { id, name: `name of ${id}`, status: 'running', metadata: { team: 'core' }, ...devboxes[id] })
  }).listen(0, '127.0.0.1')
  receiver = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { event, alerts } = JSON.parse(body) as { event: string; alerts: Alert[] }
    received.push(...alerts.map(({ devbox_id }) => `${event.replace('alert.', '')} ${devbox_id}`))
    response.end()
  }).listen(0, '127.0.0.1')
  await Promise.all([service, receiver].map((server) => once(server, 'listening')))
  const webhook = { url: urlOf(receiver), secret: undefined, apiKey: key }
  gateway = await startConsole({ url: urlOf(service) }, { webhook })
  cookie = await gateway.signIn(key)
})
afterEach(async () => {
  await gateway.close()
  for (const server of [service, receiver]) {
    server.close()
    server.closeAllConnections()
  }
  vi.restoreAllMocks()
})

const listen = () => {
  const alerts = new Map<string, Alert>()
  const history: Alert[] = []
  alertBookFor(owner).join(key, ({ event, data }: AlertItem) => {
    if (event === 'snapshot') for (const alert of data.alerts) alerts.set(alert.devbox_id, alert)
    if (event !== 'alert') return
    alerts.set(data.devbox_id, data)
    history.push(data)
  })
  return {
    alerts,
    history,
    until: (id: string, wanted: Partial<Alert>) =>
      vi.waitFor(() => {
        expect(alerts.get(id)).toMatchObject(wanted)
        return alerts.get(id) as Alert
      }, soon),
  }
}
const post = (path: string, body?: unknown, method = 'POST') =>
  gateway.fetch(path, { method, cookie, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const acknowledge = (...ids: string[]) => post('/api/alerts/acknowledge', { ids })
const silence = () =>
  post('/api/alerts/silences', { metadata: { team: 'core' }, until_ms: Date.now() + hour, comment: '' })
/** The next connection of the watch repeats `evictions`. */
const reconnect = async (...evictions: Eviction[]) => {
  pending = evictions
  const before = watches.length
  for (const hub of evictionWatches(gateway.registry).values()) hub.refresh()
  await vi.waitFor(() => expect(watches.length).toBeGreaterThan(before), soon)
}

it('keeps an acknowledgment across withdrawal and a new report, without a second alarm or message', async () => {
  const [one, other] = [eviction('dbx_1'), eviction('dbx_2')]
  pending = [one, other]
  const page = listen()
  for (const id of ['dbx_1', 'dbx_2']) await page.until(id, { state: 'new', devbox_name: `name of ${id}` })
  await acknowledge(page.alerts.get('dbx_1')?.id ?? '')
  await page.until('dbx_1', { state: 'acknowledged' })
  for (let round = 0; round < 3; round++) {
    await reconnect()
    for (const id of ['dbx_1', 'dbx_2']) await page.until(id, { state: 'withdrawn' })
    await reconnect(other, one)
    await page.until('dbx_1', { state: 'acknowledged', acknowledged_by: 'Ada', alarms: 1, closed_ms: null })
    await page.until('dbx_2', { state: 'new', acknowledged_by: null, alarms: 1, closed_ms: null })
  }
  // A message that is sent later than all there might be.
  await reconnect(other, one, eviction('dbx_3'))
  await vi.waitFor(() => expect(received).toContain('raised dbx_3'), soon)
  expect(received.filter((message) => /raised dbx_[12]/.test(message)).toSorted()).toEqual([
    'raised dbx_1',
    'raised dbx_2',
  ])
})

it('keeps alerts across a console restart if the service is slow to repeat evictions', async () => {
  counts = false
  const one = eviction('dbx_1')
  pending = [one]
  const page = listen()
  await acknowledge((await page.until('dbx_1', { devbox_name: 'name of dbx_1' })).id)
  const { dataDir } = gateway.registry.config
  pending = []
  const again = await startConsole({ url: urlOf(service) }, { dataDir })
  const next = listen()
  await vi.waitFor(() => expect(alertBookFor(owner).health().state).toBe('live'), soon)
  await next.until('dbx_1', { state: 'acknowledged' })
  const [hub] = evictionWatches(again.registry).values()
  expect(hub?.snapshot().evictions).toEqual([one])
  watches.at(-1)?.write(eventOf(one) + eventOf(eviction('dbx_2')))
  await next.until('dbx_2', { state: 'new' })
  expect(next.history.map(({ devbox_id }) => devbox_id)).not.toContain('dbx_1')
  await again.close()
})

it('marks an eviction late only if a reconnect reported it', async () => {
  const page = listen()
  await vi.waitFor(() => expect(watches).toHaveLength(1), soon)
  watches[0]?.write(eventOf(eviction('dbx_1')))
  await page.until('dbx_1', { found_late: false })
  await reconnect(eviction('dbx_2'))
  await page.until('dbx_2', { found_late: true })
  watches.at(-1)?.write(eventOf(eviction('dbx_3')))
  await page.until('dbx_3', { found_late: false })
})

it.each([401, 403, 404, 500])(
  'reaches the webhook without open pages after the watch failed with %i',
  async (status) => {
    const leaving = new AbortController()
    failing = { '/v1/devboxes/evictions/watch': status }
    pending = [eviction('dbx_1')]
    await startWebhook(leaving.signal)
    await vi.waitFor(() => expect(alertBookFor(owner).health().state).toMatch(/refused|retrying/), soon)
    failing = {}
    // Any other call with the key that succeeds.
    await gateway.fetch('/api/v1/axons', { cookie })
    await vi.waitFor(() => expect(received).toEqual(['raised dbx_1']), soon)
  },
)

it('reaches the webhook without open pages if the service has no accounts', async () => {
  failing = { '/v1/accounts/me': 404 }
  pending = [eviction('dbx_1')]
  await startWebhook(new AbortController().signal)
  await vi.waitFor(() => expect(received).toEqual(['raised dbx_1']), soon)
})

it('follows up an alert silenced after its announcement, but not one silenced before', async () => {
  const [loud, quiet] = [eviction('dbx_loud'), eviction('dbx_quiet')]
  pending = [loud]
  const page = listen()
  await page.until('dbx_loud', { devbox_name: 'name of dbx_loud' })
  await silence()
  await reconnect(loud, quiet)
  await page.until('dbx_quiet', { withheld: 'first' })
  await reconnect()
  for (const id of ['dbx_loud', 'dbx_quiet']) await page.until(id, { state: 'withdrawn' })
  await vi.waitFor(() => expect(received).toContain('closed dbx_loud'), soon)
  expect(received.toSorted()).toEqual(['closed dbx_loud', 'raised dbx_loud'])
})

it('names who suspended or shut down a devbox before its deadline', async () => {
  const ids = ['dbx_1', 'dbx_2', 'dbx_3', 'dbx_4']
  pending = ids.map((id) => eviction(id))
  const page = listen()
  for (const id of ids) await page.until(id, { state: 'new' })
  devboxes = { dbx_1: { status: 'suspending' }, dbx_2: { status: 'shutdown' } }
  await post('/api/v1/devboxes/dbx_1/suspend')
  await page.until('dbx_1', { state: 'stopped', stopped: { how: 'suspended', by: 'Ada' } })
  await post('/api/v1/devboxes/dbx_2/shutdown')
  await page.until('dbx_2', { state: 'stopped', stopped: { how: 'shut down', by: 'Ada' } })
  // Ended by an API call of an unknown caller, and by a failure.
  devboxes = { ...devboxes, dbx_3: { status: 'suspended' }, dbx_4: { status: 'failure' } }
  await reconnect()
  await page.until('dbx_3', { state: 'stopped', stopped: { how: 'suspended', by: null } })
  await page.until('dbx_4', { state: 'stopped', stopped: { how: 'failed', by: null } })
  const csv = await (await gateway.fetch('/api/alerts?format=csv&state=stopped', { cookie })).text()
  expect(csv).toContain('suspended,Ada')
})

it('raises no alarm for a suspended devbox until it runs again', async () => {
  const one = eviction('dbx_1')
  pending = [one]
  const page = listen()
  const { id } = await page.until('dbx_1', { state: 'new' })
  await acknowledge(id)
  devboxes = { dbx_1: { status: 'suspended' } }
  await post('/api/v1/devboxes/dbx_1/suspend')
  await page.until('dbx_1', { state: 'stopped' })
  await reconnect()
  // The service reports it all the same.
  await reconnect(one, eviction('dbx_2'))
  await page.until('dbx_2', { state: 'new' })
  expect(page.alerts.get('dbx_1')).toMatchObject({ state: 'stopped' })
  devboxes = {}
  await reconnect()
  await reconnect(one)
  await page.until('dbx_1', { state: 'acknowledged', alarms: 1 })
})

it('raises and acknowledges 5,000 alerts in small batches per event loop turn', async () => {
  const count = 5_000
  pending = Array.from({ length: count }, (_, n) => eviction(`dbx_${n}`))
  const page = listen()
  let told = 0
  let maxInOneTurn = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      await setImmediate()
      maxInOneTurn = Math.max(maxInOneTurn, page.history.length - told)
      told = page.history.length
    }
  })()
  await vi.waitFor(() => expect(page.alerts.size).toBe(count), soon)
  const answer = await acknowledge(...[...page.alerts.values()].map(({ id }) => id))
  expect((await answer.json()).acknowledged).toHaveLength(count)
  isOver = true
  await watching
  const states = [...page.alerts.values()].filter(({ state }) => state === 'acknowledged')
  expect(states).toHaveLength(count)
  expect(maxInOneTurn).toBeLessThanOrEqual(200)
  const { total_count } = await (await gateway.fetch('/api/alerts?state=acknowledged', { cookie })).json()
  expect(total_count).toBe(count)
})
