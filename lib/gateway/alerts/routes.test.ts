import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Account } from '#lib/contract/accounts.ts'
import type { Alert, AlertHistory, AlertItem } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { serviceIdentity } from '../upstream/client.ts'
import { alertBookFor, alerts } from './alert-books.ts'

const inOneHour = () => Date.now() + 3_600_000
const soon = { timeout: 120_000 }

let service: TestService
let gateway: TestConsole
let account: Account
let cookie: string
/** The webhook's messages. */
let received: { event: string; alerts: Alert[] }[]
let statuses: number[]
let receiver: Awaited<ReturnType<typeof startServer>>
beforeAll(async () => {
  service = await startService()
  account = await service.client.accounts.me({})
  receiver = await startServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push(JSON.parse(body))
    response.writeHead(statuses.shift() ?? 204).end()
  })
})
afterAll(async () => {
  receiver.close()
  await service.close()
})
const start = async (dataDir?: string) => {
  const webhook = { url: `${receiver.url}/hook`, secret: 'a shared secret', apiKey: undefined }
  gateway = await startConsole(service, { webhook, ...(dataDir !== undefined && { dataDir }) })
  cookie = await gateway.signIn(service.key)
}
beforeEach(async () => {
  received = []
  statuses = []
  await start()
})
afterEach(() => gateway.close())

const ask = (method: string, path: string, body?: unknown) => gateway.ask(cookie, method, `/api/alerts${path}`, body)
const book = () => alertBookFor({ account, api_key: service.key })

/** A page that listens, and the alerts it knows. */
const listen = () => {
  const known = new Map<string, Alert>()
  const items: AlertItem[] = []
  const leave = book().join(service.key, {
    onItem: (item) => {
      items.push(item)
      if (item.event === 'snapshot') for (const alert of item.data.alerts) known.set(alert.id, alert)
      if (item.event === 'alert') known.set(item.data.id, item.data)
    },
  })
  const of = (devboxId: string) => [...known.values()].filter(({ devbox_id }) => devbox_id === devboxId)
  const until = (devboxId: string, state: Alert['state']) =>
    vi.waitFor(() => {
      const found = of(devboxId).find((each) => each.state === state)
      if (!found) throw new Error(`${devboxId} has ${of(devboxId).map((each) => each.state)}, not ${state}`)
      return found
    }, soon)
  return { items, of, until, leave }
}

const devbox = async (name: string, metadata: Record<string, string> = {}) =>
  (await service.client.devboxes.createAndAwaitRunning({ body: { name, metadata } })).id
const schedule = (devbox_id: string, eviction_deadline_ms: number) =>
  service.client.evictions.schedule({ body: { devbox_id, eviction_deadline_ms } })
const silence = async (team: string, until_ms: number) =>
  (await ask('POST', '/silences', { metadata: { team }, until_ms, comment: '' })).body.id as string

it('is connecting, not disconnected, before the first response', async () => {
  const stream = async () => (await ask('GET', '/health')).body.stream
  expect(await stream()).toMatchObject({ state: 'connecting', reconnects: 0, gaps: [] })
  listen()
  await vi.waitFor(async () => expect(await stream()).toMatchObject({ state: 'live', reconnects: 0, gaps: [] }), soon)
})

describe('an eviction', () => {
  it('is acknowledged once for every page, and replaced when its deadline moves', async () => {
    const id = await devbox('worker', { team: 'core' })
    const [one, other] = [listen(), listen()]
    const deadline = inOneHour()
    await schedule(id, deadline)
    const alert = await one.until(id, 'new')
    await vi.waitFor(
      () => expect(one.of(id)[0]).toMatchObject({ devbox_name: 'worker', metadata: { team: 'core' }, alarms: 1 }),
      soon,
    )
    const { body } = await ask('POST', '/acknowledge', { ids: [alert.id, 'no such alert'] })
    expect(body.acknowledged.map((each: Alert) => each.id)).toEqual([alert.id])
    for (const page of [one, other]) expect(await page.until(id, 'acknowledged')).toMatchObject({ id: alert.id })
    expect((await ask('POST', '/acknowledge', { ids: [alert.id] })).body.acknowledged).toEqual([])
    const found = (await ask('GET', `?search=${account.name.toUpperCase()}`)).body as AlertHistory
    expect(found.alerts).toMatchObject([{ id: alert.id, acknowledged_by: account.name }])
    await schedule(id, deadline - 60_000)
    expect(await one.until(id, 'moved')).toMatchObject({ id: alert.id, deadline_ms: deadline })
    expect(await one.until(id, 'new')).toMatchObject({ deadline_ms: deadline - 60_000 })
  })

  it('ends with its devbox, counts the commands it interrupted, and is found in the history', async () => {
    const id = await devbox('short', { owner: 'ada' })
    const page = listen()
    await service.client.executions.executeAsync({ params: { id }, body: { command: 'sleep 600' } })
    await service.client.executions.execute({ params: { id }, body: { command: 'true' } })
    await schedule(id, Date.now() + 1_000)
    await page.until(id, 'ended')
    // Killed by the eviction, and counted by the log after it.
    await vi.waitFor(() => expect(page.of(id)).toMatchObject([{ state: 'ended', work: { commands: 1 } }]), soon)
    const found = (await ask('GET', '?search=ADA&state=ended')).body as AlertHistory
    expect(found).toMatchObject({ total_count: 1, has_more: false, alerts: [{ devbox_id: id, state: 'ended' }] })
  })

  it('is marked late if it was scheduled while no page was open', async () => {
    const id = await devbox('overlooked')
    await schedule(id, inOneHour())
    expect(await listen().until(id, 'new')).toMatchObject({ found_late: true })
    expect((await ask('GET', '/health')).body.stream.last_event_ms).toBeGreaterThan(0)
  })

  it('is reported, silenced and acknowledged on a full disk, which is shown, and stored later', async () => {
    const id = await devbox('unwritten', { team: 'quiet' })
    const page = listen()
    const problem = async () => (await ask('GET', '/health')).body.unwritten
    expect(await problem()).toBeNull()
    const disk = new DatabaseSync(join(gateway.registry.config.dataDir, 'alerts.sqlite'))
    const tables = ['alerts', 'looks', 'followed_jobs', 'silences']
    await ask('POST', '/silences', { metadata: { team: 'quiet' }, until_ms: Date.now() + 3_000 })
    for (const table of tables)
      for (const write of ['INSERT', 'DELETE'])
        disk.exec(`CREATE TRIGGER full_${table}_${write} BEFORE ${write} ON ${table} BEGIN
          SELECT RAISE(FAIL, 'database or disk is full'); END`)
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    await schedule(id, inOneHour())
    const alert = await page.until(id, 'new')
    expect((await ask('POST', '/silences', { metadata: { a: 'b' }, until_ms: inOneHour() })).status).toBe(200)
    // The first silence ends.
    await vi.waitFor(() => expect(book().silences()).toHaveLength(1), soon)
    await vi.waitFor(() => expect(received).toMatchObject([{ event: 'alert.raised' }]), soon)
    await ask('POST', '/acknowledge', { ids: [alert.id] })
    await page.until(id, 'acknowledged')
    expect(await problem()).toBe('database or disk is full')
    for (const table of tables)
      for (const write of ['INSERT', 'DELETE']) disk.exec(`DROP TRIGGER full_${table}_${write}`)
    // The next poll stores it.
    book().onKeepAlive('nobody')
    await vi.waitFor(async () => expect(await problem()).toBeNull(), soon)
    expect(disk.prepare('SELECT count(*) AS n FROM silences').get()).toEqual({ n: 1 })
    expect(disk.prepare('SELECT state FROM alerts WHERE id = ?').all(alert.id)).toEqual([{ state: 'acknowledged' }])
    disk.close()
    vi.restoreAllMocks()
  })
})

it('silences by metadata until a time, and names who', async () => {
  const until_ms = inOneHour()
  const { body } = await ask('POST', '/silences', { metadata: { team: 'qa' }, until_ms, comment: 'load test' })
  expect(body).toMatchObject({ metadata: { team: 'qa' }, until_ms, comment: 'load test', by: account.name })
  expect(book().silences()).toEqual([body])
  expect((await ask('DELETE', `/silences/${body.id}`)).status).toBe(200)
  expect((await ask('DELETE', `/silences/${body.id}`)).status).toBe(404)
  expect((await ask('POST', '/silences', { metadata: {}, until_ms })).body).toMatchObject({ code: 'invalid_argument' })
  for (const wrong of [1, until_ms + 367 * 24 * 3_600_000])
    expect((await ask('POST', '/silences', { metadata: { a: 'b' }, until_ms: wrong })).body.field).toBe('until_ms')
  const proto = JSON.parse('{"__proto__":"b","a":"b"}')
  expect((await ask('POST', '/silences', { metadata: proto, until_ms })).status).toBe(400)
})

it('schedules a drill on the local service and cancels it', async () => {
  const id = await devbox('drilled')
  const page = listen()
  expect((await ask('POST', '/drills', { devbox_id: id, in_seconds: 3600 })).status).toBe(200)
  expect(await page.until(id, 'new')).toMatchObject({ is_drill: true })
  expect((await ask('DELETE', `/drills/${id}`)).status).toBe(200)
  // Closed before the response, so that no page counts down to a canceled eviction.
  expect(page.of(id)).toMatchObject([{ state: 'cancelled', is_drill: true }])
  expect((await ask('DELETE', `/drills/${id}`)).status).toBe(404)
  expect((await ask('POST', '/drills', { devbox_id: 'dbx_unknown', in_seconds: 3600 })).status).toBe(404)
  expect((await ask('POST', '/drills', { devbox_id: id, in_seconds: 0 })).body).toMatchObject({ field: 'in_seconds' })
  const { body } = await gateway.ask(cookie, 'GET', '/api/activity?search=evictions.')
  expect(body.activities).toMatchObject([
    { operation: 'evictions.schedule', subject: 'dbx_unknown', status: 404 },
    { operation: 'evictions.cancel', subject: id, status: 404 },
    { operation: 'evictions.cancel', subject: id, status: 200 },
    { operation: 'evictions.schedule', subject: id, status: 200 },
  ])
})

it('exports the whole history', async () => {
  const count = 1_203
  const past = alertOf({ devbox_id: 'dbx_past', deadline_ms: 1, state: 'ended', closed_ms: 2 })
  for (let n = 0; n < count; n++)
    alerts().store.put(`${serviceIdentity()} ${account.id}`, {
      ...past,
      id: `dbx_past@${n}`,
      devbox_name: n === 0 ? '=1+1,"x"' : `past-${n}`,
      first_heard_ms: n,
    })
  const csv = await (await gateway.fetch('/api/alerts?format=csv&search=past', { cookie })).text()
  expect(csv.split('\r\n')).toHaveLength(count + 2)
  expect(csv).toMatch(/^id,kind,devbox_id,/)
  expect(csv).toContain(`"'=1+1,""x"""`)
  const json = (await ask('GET', '?format=json&search=past')).body as Alert[]
  expect(json.map(({ first_heard_ms }) => first_heard_ms)).toEqual(Array.from({ length: count }, (_, n) => n).reverse())
  expect((await ask('GET', '?format=json&search=nothing')).body).toEqual([])
})

it('requires a session, and for writes its own pages', async () => {
  expect((await gateway.fetch('/api/alerts')).status).toBe(401)
  const headers = { origin: 'https://evil.example' }
  expect((await gateway.fetch('/api/alerts/test', { method: 'POST', cookie, headers })).status).toBe(403)
  expect((await ask('GET', '/nothing')).status).toBe(404)
})

describe('the webhook', () => {
  it('is reported on every page while it fails, without its secrets', async () => {
    statuses = Array.from({ length: 50 }, () => 403)
    const page = listen()
    await ask('POST', '/test')
    const failure = { since_ms: expect.any(Number), answer: 'HTTP 403' }
    const failing = [{ id: 'environment', name: 'Webhook', host: new URL(receiver.url).host, ...failure }]
    await vi.waitFor(() => expect(page.items).toContainEqual({ event: 'receivers', data: { failing } }), soon)
    // Also to one that is opened later.
    expect(listen().items.at(-1)?.data).toMatchObject({ receivers: { failing } })
    statuses = []
    await ask('POST', '/receivers/environment/retry')
    await vi.waitFor(() => expect(page.items).toContainEqual({ event: 'receivers', data: { failing: [] } }), soon)
  })

  it('is notified of open alerts when their silence ends or expires', async () => {
    const [byHand, taken] = [await devbox('by-hand', { team: 'one' }), await devbox('taken', { team: 'one' })]
    const byTime = await devbox('by-time', { team: 'two' })
    const raised = () =>
      received
        .filter(({ event }) => event === 'alert.raised')
        .flatMap(({ alerts }) => alerts.map(({ devbox_id }) => devbox_id))
        .filter((id) => [byHand, taken, byTime].includes(id))
    const page = listen()
    const first = await silence('one', inOneHour())
    const untilMs = Date.now() + 3_000
    await silence('two', untilMs)
    for (const id of [byHand, taken, byTime]) await schedule(id, inOneHour())
    await ask('POST', '/acknowledge', { ids: [(await page.until(taken, 'new')).id] })
    for (const id of [byHand, byTime]) await page.until(id, 'new')
    await vi.waitFor(() => expect(raised()).toEqual([byTime]), soon)
    expect(Date.now()).toBeGreaterThanOrEqual(untilMs)
    await ask('DELETE', `/silences/${first}`)
    await vi.waitFor(() => expect(raised()).toEqual([byTime, byHand]), soon)
  })

  it('is notified of open alerts whose silence expired while the console was stopped', async () => {
    const { dataDir } = gateway.registry.config
    const page = listen()
    const id = await devbox('silenced', { team: 'three' })
    await silence('three', inOneHour())
    await schedule(id, inOneHour())
    await page.until(id, 'new')
    const disk = new DatabaseSync(join(dataDir, 'alerts.sqlite'))
    disk.prepare("UPDATE silences SET until_ms = ?1, silence = json_set(silence, '$.until_ms', ?1)").run(Date.now())
    disk.close()
    const before = gateway
    await start(dataDir)
    const after = listen()
    await vi.waitFor(
      () => expect(received.flatMap(({ alerts }) => alerts.map(({ devbox_id }) => devbox_id))).toContain(id),
      soon,
    )
    const { log = [] } = await after.until(id, 'new')
    expect(log.map(({ what }) => what)).toEqual(['raised', 'silenced', 'silence_ended'])
    const { body } = await gateway.ask(cookie, 'GET', '/api/activity?search=end_silence')
    expect(body.activities).toMatchObject([{ person: 'Devdeck', browser: 'None' }])
    await gateway.close()
    gateway = before
  })
})
