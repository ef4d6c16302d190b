import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { pendingCountHeader } from '#lib/contract/evictions.ts'
import type { Alert, AlertHealth, AlertItem } from '#lib/protocol/alerts.ts'
import { closeSlots } from '../registry/registry.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { alertBookFor } from './alert-books.ts'
import { evictionWatches } from './eviction-watch.ts'

const soon = { timeout: 120_000 }
const minute = 60_000

/** A service whose devboxes and jobs the test writes. */
let service: Server
let devboxes: Record<string, unknown>[]
let jobs: Record<string, { state: string }>
let asked: string[]
/** Streams of evictions, by the key they were asked for with. */
let watches: { key: string; response: ServerResponse }[]
let isRefused: (key: string) => boolean
let isBroken: (path: string) => boolean
/** How many pending evictions a watch announces; null where the service does not say. */
let pendingCount: number | null
/** Resolves when a devbox may be told of. */
let held: Promise<void> | undefined
let gateway: TestConsole
let cookie: string

const devbox = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  name: `name of ${id}`,
  status: 'running',
  create_time_ms: Date.now() - 55 * minute,
  end_time_ms: null,
  launch_parameters: { keep_alive_time_seconds: 3600 },
  metadata: { team: 'core' },
  capabilities: [],
  state_transitions: [{ status: 'running', transition_time_ms: Date.now() - 55 * minute }],
  ...more,
})

beforeEach(async () => {
  devboxes = []
  jobs = {}
  asked = []
  watches = []
  isRefused = () => false
  isBroken = () => false
  pendingCount = null
  held = undefined
  service = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service')
    asked.push(`${request.method} ${pathname}`)
    const answer = (body: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const [, , area, id] = pathname.split('/')
    const key = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if (isRefused(key)) return answer({ code: 'unauthenticated', message: 'not this key' }, 401)
    if (isBroken(pathname)) return answer({ code: 'unavailable', message: 'not now' }, 503)
    if (pathname.endsWith('/watch')) {
      watches.push({ key, response })
      const headers = {
        'content-type': 'text/event-stream',
        ...(pendingCount !== null && { [pendingCountHeader]: String(pendingCount) }),
      }
      return response.writeHead(200, headers).write(': connected\n\n')
    }
    if (pathname === '/v1/accounts/me') return answer({ id: 'acc', name: 'Scripted' })
    if (area === 'benchmark_jobs' && id && jobs[id])
      return answer({ id, name: 'nightly', create_time_ms: 1, ...jobs[id] })
    if (pathname.endsWith('/keep_alive')) return answer({})
    const found = devboxes.find((each) => each.id === id)
    if (found) await held
    if (found) return answer(found)
    if (area !== 'devboxes' || id) return answer({ code: 'not_found', message: 'no such thing' }, 404)
    const listed = devboxes.filter(({ status }) => status === searchParams.get('status'))
    return answer({ devboxes: listed, has_more: false, total_count: null })
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  gateway = await startConsole({ url: `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
  cookie = await gateway.signIn('ak_scripted')
})
afterEach(async () => {
  await gateway.close()
  service.close()
  service.closeAllConnections()
})

const owner = { account: { id: 'acc', name: 'Scripted' }, api_key: 'ak_scripted' }

/** A page that listens, what it knows, and a look that does not wait for the next turn. */
const listen = async (api_key = owner.api_key) => {
  const alerts = new Map<string, Alert>()
  const book = alertBookFor({ ...owner, api_key })
  const leave = book.join(api_key, (item: AlertItem) => {
    if (item.event === 'snapshot') for (const alert of item.data.alerts) alerts.set(alert.id, alert)
    if (item.event === 'alert') alerts.set(item.data.id, item.data)
  })
  await vi.waitFor(() => expect(book.pollHealth().looked_ms).not.toBeNull(), soon)
  return {
    leave,
    look: () => book.onKeepAlive('nobody'),
    has: (wanted: Partial<Alert>) =>
      vi.waitFor(() => expect([...alerts.values()]).toContainEqual(expect.objectContaining(wanted)), soon),
    all: () => [...alerts.values()],
  }
}
const ask = async (method: string, path: string, body?: unknown) => {
  const response = await gateway.fetch(path, {
    method,
    cookie,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

it('alerts before keep-alive time runs out, and withdraws after a keep-alive call', async () => {
  devboxes = [devbox('dbx_1'), devbox('dbx_2', { initiator_type: 'scenario' })]
  const page = await listen()
  await page.has({ kind: 'end', devbox_id: 'dbx_1', state: 'new', devbox_name: 'name of dbx_1' })
  const [alert] = page.all()
  // The service does not say when it ends: reckoned from its start, and said so.
  expect(alert).toMatchObject({ end: { cause: 'keep_alive', is_at_least: true }, metadata: { team: 'core' } })
  expect(page.all()).toHaveLength(1)
  expect((await ask('POST', '/api/v1/devboxes/dbx_1/keep_alive')).status).toBe(200)
  await page.has({ kind: 'end', devbox_id: 'dbx_1', state: 'moved' })
})

it('uses the end time the service reports, and records the outcome', async () => {
  const at = Date.now() + 3 * minute
  devboxes = [devbox('dbx_1', { keep_alive_until_ms: at })]
  const page = await listen()
  await page.has({ kind: 'end', state: 'new', deadline_ms: at, end: { cause: 'keep_alive', is_at_least: false } })
  devboxes = [devbox('dbx_1', { status: 'shutdown', end_time_ms: Date.now() })]
  page.look()
  await page.has({ kind: 'end', state: 'ended', deadline_ms: at })
})

it('alerts before an idle shutdown, but not before an idle suspend', async () => {
  const idle = (on_idle: string) => ({
    launch_parameters: { after_idle: { idle_time_seconds: 600, on_idle } },
    last_used_ms: Date.now() - 8 * minute,
  })
  devboxes = [
    devbox('dbx_1', idle('shutdown')),
    devbox('dbx_2', idle('suspend')),
    devbox('dbx_3', { launch_parameters: {} }),
  ]
  const page = await listen()
  await page.has({ kind: 'end', devbox_id: 'dbx_1', end: { cause: 'idle', is_at_least: false } })
  expect(page.all()).toHaveLength(1)
  const { body } = await ask('GET', '/api/alerts/health')
  expect((body as AlertHealth).looks).toMatchObject({ watched: 2, running: 3, has_more: false, problem: null })
})

it('alerts once about a new failure, and not about earlier ones', async () => {
  devboxes = [
    devbox('dbx_old', { status: 'failure', end_time_ms: Date.now() - 30 * minute }),
    devbox('dbx_1', { launch_parameters: {} }),
  ]
  const page = await listen()
  devboxes = [devbox('dbx_1', { status: 'failure', end_time_ms: Date.now() })]
  page.look()
  await page.has({ kind: 'failure', devbox_id: 'dbx_1', state: 'new', found_late: false })
  const [alert] = page.all()
  await ask('POST', '/api/alerts/acknowledge', { ids: [alert?.id] })
  await page.has({ kind: 'failure', state: 'seen', acknowledged_by: 'Scripted' })
  page.look()
  const before = asked.length
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(before + 1), soon)
  expect(page.all()).toHaveLength(1)
})

it('alerts every page when a followed job ends, then stops following it', async () => {
  jobs = { bmj_1: { state: 'running' }, bmj_2: { state: 'running' } }
  const page = await listen()
  expect((await ask('POST', '/api/alerts/followed-jobs', { job_id: 'bmj_1' })).status).toBe(200)
  expect((await ask('POST', '/api/alerts/followed-jobs', { job_id: 'bmj_none' })).status).toBe(404)
  expect(alertBookFor(owner).snapshot().data).toMatchObject({ followed_jobs: ['bmj_1'] })
  jobs = { bmj_1: { state: 'completed' }, bmj_2: { state: 'completed' } }
  page.look()
  await page.has({ kind: 'job', job: { id: 'bmj_1', name: 'nightly', state: 'completed' }, devbox_id: '' })
  expect(page.all()).toHaveLength(1)
  expect(alertBookFor(owner).snapshot().data).toMatchObject({ followed_jobs: [] })
  expect((await ask('POST', '/api/alerts/followed-jobs', { job_id: 'bmj_2' })).status).toBe(409)
})

it('polls once for all pages and reports failures', async () => {
  const pages = [await listen(), await listen(), await listen()]
  const lists = () => asked.filter((call) => call === 'GET /v1/devboxes').length
  expect(lists()).toBe(2)
  service.closeAllConnections()
  service.close()
  pages[0]?.look()
  await vi.waitFor(
    async () =>
      expect(((await ask('GET', '/api/alerts/health')).body as AlertHealth).looks).toMatchObject({
        problem: 'The service could not be reached',
        looked_ms: expect.any(Number),
      }),
    soon,
  )
})

it('polls at once when the service is back', async () => {
  const { setTimeout: waits } = globalThis
  const resting = vi.spyOn(globalThis, 'setTimeout')
  // Disables polling for this test.
  const rest = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    waits(run, ms < 15_000 ? ms : 2 ** 30, ...args)
  resting.mockImplementation(rest as typeof setTimeout)
  const page = await listen()
  await vi.waitFor(() => expect(alertBookFor(owner).health().state).toBe('live'), soon)
  devboxes = [devbox('dbx_1', { status: 'failure', end_time_ms: Date.now() })]
  watches[0]?.response.destroy()
  await page.has({ kind: 'failure', devbox_id: 'dbx_1', state: 'new' })
  expect(alertBookFor(owner).health()).toMatchObject({ state: 'live', reconnects: 1 })
  resting.mockRestore()
})

it('switches to the key of another page when the first is refused', async () => {
  isRefused = (key) => key === 'ak_revoked'
  const book = alertBookFor({ ...owner, api_key: 'ak_revoked' })
  const told: AlertItem[] = []
  book.join('ak_revoked', (item) => told.push(item))
  await vi.waitFor(() => expect(book.health().state).toBe('refused'), soon)
  const page = await listen()
  await vi.waitFor(() => expect(watches.map(({ key }) => key)).toEqual([owner.api_key]), soon)
  const deadline_ms = Date.now() + 60 * minute
  watches[0]?.response.write(`data: ${JSON.stringify({ devbox_id: 'dbx_1', eviction_deadline_ms: deadline_ms })}\n\n`)
  await page.has({ kind: 'eviction', devbox_id: 'dbx_1', state: 'new', deadline_ms })
  expect(told).toContainEqual({ event: 'alert', data: expect.objectContaining({ devbox_id: 'dbx_1', state: 'new' }) })
})

it('keeps an alert unchanged if the console stops during a devbox lookup', async () => {
  devboxes = [devbox('dbx_1', { launch_parameters: {} })]
  const page = await listen()
  const describing = Promise.withResolvers<void>()
  held = describing.promise
  watches[0]?.response.write('data: {"devbox_id":"dbx_1","eviction_deadline_ms":9000000000000}\n\n')
  await page.has({ kind: 'eviction', devbox_id: 'dbx_1', state: 'new', devbox_name: null })
  closeSlots()
  describing.resolve()
  // What it had known is known again by the console that comes after it.
  expect(await (await gateway.fetch('/api/alerts', { cookie })).json()).toMatchObject({
    alerts: [{ devbox_id: 'dbx_1', devbox_name: null }],
  })
})

it('keeps an alert open after its deadline until the service reports the outcome', async () => {
  const page = await listen()
  await vi.waitFor(() => expect(alertBookFor(owner).health().state).toBe('live'), soon)
  // More than the error of the estimated clock difference.
  const deadline_ms = Date.now() - 5_000
  watches[0]?.response.write(`data: ${JSON.stringify({ devbox_id: 'dbx_1', eviction_deadline_ms: deadline_ms })}\n\n`)
  isBroken = (path) => path === '/v1/devboxes/dbx_1'
  await page.has({ kind: 'eviction', devbox_id: 'dbx_1', state: 'new' })
  const asks = () => asked.filter((call) => call === 'GET /v1/devboxes/dbx_1').length
  const before = asks()
  // The next connection no longer reports it.
  pendingCount = 0
  for (const hub of evictionWatches(gateway.registry).values()) hub.refresh()
  await vi.waitFor(() => expect(asks()).toBeGreaterThan(before), soon)
  expect(page.all()).toMatchObject([{ state: 'new' }])
  isBroken = () => false
  devboxes = [devbox('dbx_1', { status: 'suspended' })]
  watches.at(-1)?.response.destroy()
  await page.has({ kind: 'eviction', devbox_id: 'dbx_1', state: 'ended' })
})

it('keeps an alert that is reported again during a devbox lookup', async () => {
  devboxes = [devbox('dbx_1')]
  const page = await listen()
  await vi.waitFor(() => expect(alertBookFor(owner).health().state).toBe('live'), soon)
  const told = `data: ${JSON.stringify({ devbox_id: 'dbx_1', eviction_deadline_ms: Date.now() + 60 * minute })}\n\n`
  watches[0]?.response.write(told)
  await page.has({ kind: 'eviction', state: 'new', devbox_name: 'name of dbx_1' })
  const describing = Promise.withResolvers<void>()
  held = describing.promise
  const asks = () => asked.filter((call) => call === 'GET /v1/devboxes/dbx_1').length
  const before = asks()
  // It was withdrawn for a moment.
  pendingCount = 0
  const [hub] = evictionWatches(gateway.registry).values()
  hub?.refresh()
  await vi.waitFor(() => expect(asks()).toBeGreaterThan(before), soon)
  watches.at(-1)?.response.write(told)
  await vi.waitFor(() => expect(hub?.snapshot().evictions).toHaveLength(1), soon)
  describing.resolve()
  held = undefined
  // The next report follows the first one's outcome.
  watches.at(-1)?.response.write('data: {"devbox_id":"dbx_2","eviction_deadline_ms":9000000000000}\n\n')
  await page.has({ kind: 'eviction', devbox_id: 'dbx_2', state: 'new' })
  expect(page.all()).toContainEqual(expect.objectContaining({ kind: 'eviction', devbox_id: 'dbx_1', state: 'new' }))
})
