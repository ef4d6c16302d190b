import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import type { Account } from '#lib/contract/accounts.ts'
import type { Alert, AlertHealth, AlertHistory, AlertItem } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { serviceIdentity } from '../upstream/client.ts'
import { alertBookFor, alerts } from './alert-books.ts'
import { evictionWatches, evictionWatchFor } from './eviction-watch.ts'
import { signatureOf, Webhook } from './webhook.ts'

const inOneHour = () => Date.now() + 3_600_000
const soon = { timeout: 120_000 }

let service: TestService
let gateway: TestConsole
let account: Account
let cookie: string
beforeAll(async () => {
  service = await startService()
  account = await service.client.accounts.me({})
})
afterAll(() => service.close())
beforeEach(async () => {
  gateway = await startConsole({ url: service.url })
  cookie = await gateway.signIn(service.key)
})
afterEach(() => gateway.close())

const ask = async (method: string, path: string, body?: unknown) => {
  const response = await gateway.fetch(`/api/alerts${path}`, {
    method,
    cookie,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}
const owner = () => ({ account, api_key: service.key })

type Page = ReturnType<typeof listen>
/** A page that listens, and the alerts it knows. */
const listen = (console = owner()) => {
  const alerts = new Map<string, Alert>()
  const leave = alertBookFor(console).join(console.api_key, (item: AlertItem) => {
    if (item.event === 'snapshot') for (const alert of item.data.alerts) alerts.set(alert.id, alert)
    if (item.event === 'alert') alerts.set(item.data.id, item.data)
  })
  const of = (devboxId: string) => [...alerts.values()].filter(({ devbox_id }) => devbox_id === devboxId)
  const until = (devboxId: string, state: Alert['state']) =>
    vi.waitFor(() => {
      const found = of(devboxId).find((each) => each.state === state)
      if (!found) throw new Error(`${devboxId} has ${of(devboxId).map((each) => each.state)}, not ${state}`)
      return found
    }, soon)
  return { of, until, leave }
}

const devbox = async (name: string, metadata: Record<string, string> = {}) =>
  (await service.client.devboxes.createAndAwaitRunning({ body: { name, metadata } })).id
const schedule = (devbox_id: string, eviction_deadline_ms: number) =>
  service.client.evictions.schedule({ body: { devbox_id, eviction_deadline_ms } })

it('is on its way to the service, not away from it, before the first answer', async () => {
  const stream = async () => ((await ask('GET', '/health')).body as AlertHealth).stream
  expect(await stream()).toMatchObject({ state: 'connecting', reconnects: 0, gaps: [] })
  const { leave } = listen()
  await vi.waitFor(async () => expect(await stream()).toMatchObject({ state: 'live', reconnects: 0, gaps: [] }), soon)
  leave()
})

describe('an eviction', () => {
  it('is an alert with the name and metadata of its devbox, taken on by one and so for all', async () => {
    const id = await devbox('worker', { team: 'core' })
    const [one, other] = [listen(), listen()]
    await schedule(id, inOneHour())
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
  })

  it('is new again with an earlier deadline, with the outcome of the previous one', async () => {
    const id = await devbox('moved')
    const page = listen()
    const deadline = inOneHour()
    await schedule(id, deadline)
    const first = await page.until(id, 'new')
    await ask('POST', '/acknowledge', { ids: [first.id] })
    await schedule(id, deadline - 60_000)
    expect(await page.until(id, 'moved')).toMatchObject({ id: first.id, deadline_ms: deadline })
    expect(await page.until(id, 'new')).toMatchObject({ deadline_ms: deadline - 60_000 })
  })

  it('ends with its devbox, and is found in the history', async () => {
    const id = await devbox('short', { owner: 'ada' })
    const page = listen()
    await schedule(id, Date.now() + 1_000)
    expect(await page.until(id, 'ended')).toMatchObject({ devbox_id: id })
    const found = (await ask('GET', '?search=ADA&state=ended')).body as AlertHistory
    expect(found).toMatchObject({ total_count: 1, has_more: false, alerts: [{ devbox_id: id, state: 'ended' }] })
    const csv = await (await gateway.fetch('/api/alerts?format=csv&search=ada', { cookie })).text()
    expect(csv).toMatch(new RegExp(`^id,kind,devbox_id.*\r\n${id}@\\d+,eviction,${id},short,`))
  })

  it('raised while no page was open is found and marked', async () => {
    const id = await devbox('overlooked')
    await schedule(id, inOneHour())
    // Another listener may have started the watch already.
    const hub = evictionWatchFor(owner())
    hub.join({ start: () => undefined, onEvent: () => undefined, end: () => undefined })
    await vi.waitFor(() => expect(hub.snapshot().evictions.map(({ devbox_id }) => devbox_id)).toContain(id), soon)
    expect(await listen().until(id, 'new')).toMatchObject({ found_late: true })
    expect((await ask('GET', '/health')).body.stream.last_event_ms).toBeGreaterThan(0)
  })

  it('that is taken back is not dropped in silence', async () => {
    const id = await devbox('spared')
    const page = listen()
    await schedule(id, inOneHour())
    await page.until(id, 'new')
    await service.client.evictions.cancel({ params: { devbox_id: id } })
    // The stream tells of no withdrawal; a new connection repeats what is left.
    for (const hub of evictionWatches(gateway.registry).values()) hub.refresh()
    expect(await page.until(id, 'withdrawn')).toMatchObject({ devbox_id: id })
  })
})

it('is one for pages with different keys of an account, and told to the webhook once', async () => {
  const keys = ['1', '2'].map((digit) => ({ account: 'team', key: `ak_team${digit.repeat(24)}` }))
  const [firstKey = '', secondKey = ''] = keys.map(({ key }) => key)
  const team = await startService({ keys })
  const client = createClient({ baseUrl: team.url, headers: { authorization: `Bearer ${firstKey}` } })
  const told: string[] = []
  const receiver = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    for (const { id } of JSON.parse(body).alerts) told.push(`${request.headers['devdeck-event']} ${id}`)
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const shared = await startConsole({ url: team.url }, { webhook: { url, secret: undefined, apiKey: undefined } })
  try {
    const account = await client.accounts.me({})
    const [one, other] = [firstKey, secondKey].map((api_key) => listen({ account, api_key })) as [Page, Page]
    const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
    const evict = (inMs: number) =>
      client.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + inMs } })
    await evict(3_600_000)
    const alert = await one.until(id, 'new')
    const cookie = await shared.signIn(secondKey)
    await shared.fetch('/api/alerts/acknowledge', {
      method: 'POST',
      cookie,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ids: [alert.id] }),
    })
    for (const page of [one, other]) expect(await page.until(id, 'acknowledged')).toMatchObject({ id: alert.id })
    // Closes the page whose key the watch uses; the other page keeps receiving alerts.
    one.leave()
    await evict(3_000_000)
    const earlier = await other.until(id, 'new')
    await vi.waitFor(
      () =>
        expect(told.toSorted()).toEqual(
          [
            `alert.acknowledged ${alert.id}`,
            `alert.closed ${alert.id}`,
            `alert.raised ${alert.id}`,
            `alert.raised ${earlier.id}`,
          ].toSorted(),
        ),
      soon,
    )
    other.leave()
  } finally {
    await shared.close()
    receiver.close()
    receiver.closeAllConnections()
    await team.close()
  }
})

it('is reported and acknowledged on a full disk, which is shown, and stored later', async () => {
  const id = await devbox('unwritten')
  const page = listen()
  const health = async () => ((await ask('GET', '/health')).body as AlertHealth).unwritten
  expect(await health()).toBeNull()
  const disk = new DatabaseSync(join(gateway.registry.config.dataDir, 'alerts.sqlite'))
  const full = (table: string) =>
    disk.exec(`CREATE TRIGGER full_${table} BEFORE INSERT ON ${table} BEGIN
      SELECT RAISE(FAIL, 'database or disk is full'); END`)
  for (const table of ['alerts', 'looks', 'followed_jobs']) full(table)
  vi.spyOn(console, 'error').mockReturnValue(undefined)
  await schedule(id, inOneHour())
  const alert = await page.until(id, 'new')
  await ask('POST', '/acknowledge', { ids: [alert.id] })
  expect(await page.until(id, 'acknowledged')).toMatchObject({ id: alert.id })
  expect(await health()).toBe('database or disk is full')
  for (const table of ['alerts', 'looks', 'followed_jobs']) disk.exec(`DROP TRIGGER full_${table}`)
  await ask('POST', '/test')
  expect(await health()).toBeNull()
  const [row] = disk.prepare('SELECT state FROM alerts WHERE id = ?').all(alert.id)
  expect(row).toEqual({ state: 'acknowledged' })
  disk.close()
})

it('keeps alerts and acknowledgments across a restart of the console', async () => {
  const id = await devbox('kept')
  const dataDir = gateway.registry.config.dataDir
  await schedule(id, inOneHour())
  const alert = await listen().until(id, 'new')
  await ask('POST', '/acknowledge', { ids: [alert.id] })
  const again = await startConsole({ url: service.url }, { dataDir })
  try {
    expect(await listen().until(id, 'acknowledged')).toMatchObject({ id: alert.id })
  } finally {
    await again.close()
  }
})

it('silences by metadata until a time, for all, and says who', async () => {
  const until_ms = inOneHour()
  const { body } = await ask('POST', '/silences', { metadata: { team: 'qa' }, until_ms, comment: 'load test' })
  expect(body).toMatchObject({ metadata: { team: 'qa' }, until_ms, comment: 'load test', by: expect.any(String) })
  expect(alertBookFor(owner()).silences()).toEqual([body])
  expect((await ask('DELETE', `/silences/${body.id}`)).status).toBe(200)
  expect((await ask('DELETE', `/silences/${body.id}`)).status).toBe(404)
  expect((await ask('POST', '/silences', { metadata: {}, until_ms })).body).toMatchObject({ code: 'invalid_argument' })
  expect((await ask('POST', '/silences', { metadata: { a: 'b' }, until_ms: 1 })).body).toMatchObject({
    field: 'until_ms',
  })
})

it('drills on the local service: schedules an eviction and takes it back', async () => {
  const id = await devbox('drilled')
  const page = listen()
  expect((await ask('POST', '/drills', { devbox_id: id, in_seconds: 3600 })).status).toBe(200)
  expect(await page.until(id, 'new')).toMatchObject({ is_drill: true })
  const [hub] = evictionWatches(gateway.registry).values()
  expect(hub?.snapshot().evictions.map(({ devbox_id }) => devbox_id)).toContain(id)
  expect((await ask('DELETE', `/drills/${id}`)).status).toBe(200)
  // Both are known before the answer is: no page counts down to what was taken back.
  expect(page.of(id)).toMatchObject([{ state: 'cancelled', is_drill: true }])
  expect(hub?.snapshot().evictions.map(({ devbox_id }) => devbox_id)).not.toContain(id)
  expect((await ask('DELETE', `/drills/${id}`)).status).toBe(404)
  expect((await ask('POST', '/drills', { devbox_id: 'dbx_unknown', in_seconds: 3600 })).status).toBe(404)
  expect((await ask('POST', '/drills', { devbox_id: id, in_seconds: 0 })).body).toMatchObject({ field: 'in_seconds' })
  const { activities } = await (await gateway.fetch('/api/activity?search=evictions.', { cookie })).json()
  expect(activities).toMatchObject([
    { operation: 'evictions.schedule', subject: 'dbx_unknown', status: 404 },
    { operation: 'evictions.cancel', subject: id, status: 404 },
    { operation: 'evictions.cancel', subject: id, status: 200 },
    { operation: 'evictions.schedule', subject: id, status: 200 },
  ])
})

it('exports the whole history, of which a list is a page', async () => {
  await ask('GET', '')
  const { id } = await service.client.accounts.me({})
  const exported = 1_203
  const pastAlerts = Array.from({ length: exported }, (_, n) => ({
    ...past,
    id: `dbx_past@${n}`,
    devbox_name: n === 0 ? '=1+1,"x"' : `past-${n}`,
    first_heard_ms: n,
  }))
  alerts().store.put(`${serviceIdentity()} ${id}`, pastAlerts)
  const csv = await (await gateway.fetch('/api/alerts?format=csv&search=past', { cookie })).text()
  expect(csv.split('\r\n')).toHaveLength(exported + 2)
  expect(csv).toContain(`dbx_past,"'=1+1,""x""",`)
  const json = (await (await gateway.fetch('/api/alerts?format=json&search=past', { cookie })).json()) as Alert[]
  expect(json.map(({ first_heard_ms }) => first_heard_ms)).toEqual(
    Array.from({ length: exported }, (_, n) => n).reverse(),
  )
  expect(await (await gateway.fetch('/api/alerts?format=json&search=nothing', { cookie })).json()).toEqual([])
})

const past = alertOf({ devbox_id: 'dbx_past', devbox_name: null, deadline_ms: 1, state: 'ended', closed_ms: 2 })

it('asks for a session, and takes writes from its own pages alone', async () => {
  expect((await gateway.fetch('/api/alerts')).status).toBe(401)
  const headers = { origin: 'https://evil.example' }
  expect((await gateway.fetch('/api/alerts/test', { method: 'POST', cookie, headers })).status).toBe(403)
  expect((await ask('GET', '/nothing')).status).toBe(404)
})

describe('the webhook', () => {
  let receiver: Server
  let answers: number[]
  let received: { headers: Record<string, unknown>; body: string }[]
  /** Called with each message before it is answered. */
  let onMessage: () => void
  beforeEach(async () => {
    answers = []
    received = []
    onMessage = () => undefined
    receiver = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      received.push({ headers: request.headers, body })
      onMessage()
      response.writeHead(answers.shift() ?? 204).end()
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const { port } = receiver.address() as AddressInfo
    await gateway.close()
    gateway = await startConsole(
      { url: service.url },
      { webhook: { url: `http://127.0.0.1:${port}/hook`, secret: 'a shared secret', apiKey: undefined } },
    )
    cookie = await gateway.signIn(service.key)
  })
  afterEach(async () => {
    receiver.close()
    receiver.closeAllConnections()
    await once(receiver, 'close')
  })
  const health = async () => (await ask('GET', '/health')).body as AlertHealth

  it('is notified with a signature, after two failed attempts', async () => {
    answers = [500, 503]
    const failures: unknown[] = []
    const failure = () => alertBookFor(owner()).webhook?.failure
    onMessage = () => failures.push(failure())
    const alert = (await ask('POST', '/test')).body as Alert
    await vi.waitFor(() => expect(received).toHaveLength(3), soon)
    const [first, , last] = received
    expect(JSON.parse(last?.body ?? '')).toMatchObject({
      event: 'alert.test',
      alert: { id: alert.id },
      text: expect.any(String),
    })
    const signature = String(last?.headers['devdeck-signature'])
    expect(signature).toBe(signatureOf(last?.body ?? '', 'a shared secret', Number(/t=(\d+)/.exec(signature)?.[1])))
    expect(last?.headers['devdeck-delivery']).toBe(first?.headers['devdeck-delivery'])
    await vi.waitFor(
      async () =>
        expect((await health()).webhook).toMatchObject({
          deliveries: [{ attempts: 3, delivered: true, answer: 'HTTP 204' }],
        }),
      soon,
    )
    expect(JSON.stringify(await health())).not.toMatch(/\/hook|a shared secret/)
    // One attempt that fails is not worth a word.
    expect(failures).toEqual([null, null, expect.objectContaining({ answer: 'HTTP 503' })])
    expect(failure()).toBeNull()
  })

  it('is notified once of many alerts, soonest first, after two failed attempts', async () => {
    const sample = (await ask('POST', '/test')).body as Alert
    await vi.waitFor(() => expect(received).toHaveLength(1), soon)
    answers = [500, 429]
    const { port } = receiver.address() as AddressInfo
    const webhook = new Webhook({ url: `http://127.0.0.1:${port}/hook`, secret: undefined }, owner().account, Date.now)
    for (let i = 0; i < 300; i++) {
      const alert: Alert = { ...sample, kind: 'eviction', id: `alr_${i}`, devbox_name: `box-${i}` }
      // Of two words about one alert the later one counts.
      webhook.send('alert.raised', { ...alert, deadline_ms: 0 }, 'http://nowhere')
      webhook.send('alert.raised', { ...alert, deadline_ms: sample.deadline_ms - i * 1000 }, `http://console/${i}`)
    }
    await vi.waitFor(
      () => expect(webhook.deliveries).toMatchObject([{ n_alerts: 300, delivered: true, attempts: 3 }]),
      soon,
    )
    webhook.close()
    const bodies = received.slice(1).map(({ body }) => body)
    expect(bodies).toEqual([bodies[0], bodies[0], bodies[0]])
    const { alert, alerts, text } = JSON.parse(bodies[0] ?? '')
    expect((alerts as Alert[]).map(({ id }) => id)).toEqual(Array.from({ length: 300 }, (_, i) => `alr_${299 - i}`))
    expect(alert).toEqual(alerts[0])
    const lines = (text as string).split('\n')
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([12, '300 alerts:', 'and 290 more'])
    expect(lines[1]).toMatch(/^Devbox box-299 .* http:\/\/console\/299$/)
  })

  it('is not notified of outdated changes after an outage', async () => {
    const sample = (await ask('POST', '/test')).body as Alert
    await vi.waitFor(() => expect(received).toHaveLength(1), soon)
    answers = [503, 503]
    const { port } = receiver.address() as AddressInfo
    const webhook = new Webhook({ url: `http://127.0.0.1:${port}/hook`, secret: undefined }, owner().account, Date.now)
    const [moved, stays] = ['moved', 'stays'].map((id) => ({ ...sample, kind: 'eviction', id })) as [Alert, Alert]
    onMessage = () => {
      onMessage = () => undefined
      webhook.send('alert.closed', { ...moved, state: 'moved' }, 'http://console')
    }
    for (const alert of [moved, stays]) webhook.send('alert.raised', alert, 'http://console')
    await vi.waitFor(() => expect(webhook.deliveries.map(({ delivered }) => delivered)).toEqual([true, true]), soon)
    webhook.close()
    const told = received.slice(1).map(({ body }) => JSON.parse(body) as { event: string; alerts: Alert[] })
    const whose = (event: string) =>
      told.filter((each) => each.event === event).map(({ alerts }) => alerts.map(({ id }) => id))
    const [first, ...again] = whose('alert.raised')
    expect(first).toEqual(['moved', 'stays'])
    expect(again.length).toBeGreaterThan(0)
    for (const ids of again) expect(ids).toEqual(['stays'])
    expect(whose('alert.closed').at(-1)).toEqual(['moved'])
  })

  it('gives up at once where the receiver refuses', async () => {
    answers = [403]
    await ask('POST', '/test')
    await vi.waitFor(
      async () =>
        expect((await health()).webhook.deliveries).toMatchObject([
          { attempts: 1, delivered: false, answer: 'HTTP 403' },
        ]),
      soon,
    )
  })

  it('is reported on every page while it fails', async () => {
    answers = Array.from({ length: 50 }, () => 403)
    const told: AlertItem[] = []
    const join = () => alertBookFor(owner()).join(owner().api_key, (item) => told.push(item))
    const leave = [join()]
    await ask('POST', '/test')
    const failure = {
      host: `127.0.0.1:${(receiver.address() as AddressInfo).port}`,
      since_ms: expect.any(Number),
      answer: 'HTTP 403',
    }
    await vi.waitFor(() => expect(told).toContainEqual({ event: 'webhook', data: failure }), soon)
    // Also to one that is opened later.
    leave.push(join())
    expect(told.at(-1)?.data).toMatchObject({ webhook: failure })
    answers = []
    await ask('POST', '/test')
    await vi.waitFor(() => expect(told).toContainEqual({ event: 'webhook', data: null }), soon)
    for (const each of leave) each()
  })

  it('is notified of evictions that are not silenced', async () => {
    await ask('POST', '/silences', { metadata: { team: 'quiet' }, until_ms: inOneHour(), comment: '' })
    const [quiet, loud] = [await devbox('quiet', { team: 'quiet' }), await devbox('loud')]
    const page = listen()
    await schedule(quiet, inOneHour())
    await page.until(quiet, 'new')
    await schedule(loud, inOneHour())
    await vi.waitFor(() => expect(received.length).toBeGreaterThan(0), soon)
    expect(received.map(({ body }) => JSON.parse(body)).filter(({ alert }) => alert.devbox_id === quiet)).toEqual([])
    expect(received.map(({ body }) => JSON.parse(body).event)).toContain('alert.raised')
  })

  it('is notified of open alerts when their silence ends or expires', async () => {
    const silence = async (team: string, until_ms: number) =>
      (await ask('POST', '/silences', { metadata: { team }, until_ms, comment: '' })).body.id as string
    const [byHand, taken] = [await devbox('by-hand', { team: 'one' }), await devbox('taken', { team: 'one' })]
    const byTime = await devbox('by-time', { team: 'two' })
    const raised = () =>
      received
        .map(({ body }) => JSON.parse(body) as { event: string; alert: Alert })
        .filter(({ event, alert }) => event === 'alert.raised' && [byHand, taken, byTime].includes(alert.devbox_id))
        .map(({ alert }) => alert.devbox_id)
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
    const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-console-'))
    const { webhook } = gateway.registry.config
    const start = async () => {
      gateway = await startConsole({ url: service.url }, { dataDir, webhook })
      cookie = await gateway.signIn(service.key)
      return listen()
    }
    await gateway.close()
    const page = await start()
    const id = await devbox('silenced', { team: 'three' })
    await ask('POST', '/silences', { metadata: { team: 'three' }, until_ms: inOneHour(), comment: '' })
    await schedule(id, inOneHour())
    await page.until(id, 'new')
    await gateway.close()
    // The hour of the silence is over by now.
    const disk = new DatabaseSync(join(dataDir, 'alerts.sqlite'))
    disk.prepare("UPDATE silences SET until_ms = ?1, silence = json_set(silence, '$.until_ms', ?1)").run(Date.now())
    disk.close()
    await start()
    const told = () => received.map(({ body }) => JSON.parse(body).alert.devbox_id)
    await vi.waitFor(() => expect(told()).toContain(id), soon)
    rmSync(dataDir, { recursive: true })
  })
})
