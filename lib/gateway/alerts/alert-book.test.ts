import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Eviction, pendingCountHeader } from '#lib/contract/evictions.ts'
import type { Alert, AlertItem } from '#lib/protocol/alerts.ts'
import { closeSlots } from '../registry/registry.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { alertBookFor, alerts, startReceivers } from './alert-books.ts'
import { watchTimes } from './eviction-watch.ts'

const soon = { timeout: 60_000 }
const minute = 60_000
const hour = 60 * minute
const key = 'ak_scripted'
const owner = { account: { id: 'acc', name: 'Ada' }, api_key: key }

type Server = Awaited<ReturnType<typeof startServer>>
/** A service that repeats `pending` on every connection of the watch, with their number if it `counts`. */
let service: Server
let pending: Eviction[]
let counts: boolean
let watches: { key: string; response: ServerResponse }[]
/** Statuses that paths respond with. */
let failing: Record<string, number>
let refusedKey: string
/** Listed by status; other ids are running devboxes. */
let devboxes: Record<string, Record<string, unknown>>
let jobs: Record<string, string>
let requests: string[]
/** Lookups of a devbox wait for it. */
let held: Promise<void> | undefined
/** Messages the webhook got, such as `raised dbx_1`. */
let received: string[]
/** Event and number of alerts of each message. */
let messages: string[]
let receiver: Server
let gateway: TestConsole
let cookie: string

const eventOf = (eviction: Eviction) => `data: ${JSON.stringify(eviction)}\n\n`
const eviction = (devbox_id: string, inMs = hour): Eviction => ({ devbox_id, eviction_deadline_ms: Date.now() + inMs })
const devboxOf = (id: string) => ({
  id,
  name: `name of ${id}`,
  status: 'running',
  metadata: { team: 'core' },
  create_time_ms: Date.now() - 55 * minute,
  launch_parameters: { keep_alive_time_seconds: 3600 },
  state_transitions: [{ status: 'running', transition_time_ms: Date.now() - 55 * minute }],
  ...devboxes[id],
})

beforeEach(async () => {
  pending = []
  counts = true
  watches = []
  failing = {}
  refusedKey = ''
  devboxes = {}
  jobs = {}
  requests = []
  held = undefined
  received = []
  messages = []
  service = await startServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service')
    requests.push(`${request.method} ${pathname}`)
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const apiKey = request.headers.authorization?.replace('Bearer ', '') ?? ''
    const status = apiKey === refusedKey ? 401 : failing[pathname]
    if (status !== undefined) return answer(status, { message: 'not now' })
    const [, , area, id = ''] = pathname.split('/')
    if (pathname.endsWith('/watch')) {
      watches.push({ key: apiKey, response })
      const headers = counts ? { [pendingCountHeader]: String(pending.length) } : {}
      response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
      return response.write(`: connected\n\n${pending.map(eventOf).join('')}`)
    }
    if (pathname === '/v1/accounts/me') return answer(200, owner.account)
    if (area === 'axons') return answer(200, { axons: [], has_more: false, total_count: 0 })
    if (area === 'benchmark_jobs')
      return jobs[id]
        ? answer(200, { id, name: 'nightly', create_time_ms: 1, state: jobs[id] })
        : answer(404, { message: 'none' })
    if (id !== '') {
      await held
      return answer(200, devboxOf(id))
    }
    const listed = Object.keys(devboxes).map(devboxOf)
    const found = listed.filter((each) => each.status === searchParams.get('status'))
    return answer(200, { devboxes: found, has_more: false, total_count: null })
  })
  const deliveries = new Set<string>()
  receiver = await startServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { event, alerts } = JSON.parse(body) as { event: string; alerts: Alert[] }
    const delivery = String(request.headers['devdeck-delivery'])
    if (deliveries.has(delivery)) return void response.end()
    deliveries.add(delivery)
    messages.push(`${event} ${alerts.length}`)
    received.push(...alerts.map(({ devbox_id }) => `${event.replace('alert.', '')} ${devbox_id}`))
    response.end()
  })
  const webhook = { url: receiver.url, secret: undefined, apiKey: key }
  gateway = await startConsole({ url: service.url }, { webhook })
  cookie = await gateway.signIn(key)
})
afterEach(async () => {
  await gateway.close()
  service.close()
  receiver.close()
  vi.restoreAllMocks()
})

/** A page that listens, with the latest alert of each devbox. */
const listen = (api_key = key) => {
  const latest = new Map<string, Alert>()
  const items: AlertItem[] = []
  const book = alertBookFor({ ...owner, api_key })
  const leave = book.join(api_key, {
    onItem: (item) => {
      items.push(item)
      if (item.event === 'snapshot') for (const alert of item.data.alerts) latest.set(alert.devbox_id, alert)
      if (item.event === 'alert') latest.set(item.data.devbox_id, item.data)
    },
  })
  return {
    book,
    leave,
    alerts: latest,
    changed: () => items.flatMap(({ event, data }) => (event === 'alert' ? [data] : [])),
    poll: () => book.onKeepAlive('nobody'),
    until: (id: string, wanted: Partial<Alert>) =>
      vi.waitFor(() => {
        expect(latest.get(id)).toMatchObject(wanted)
        return latest.get(id) as Alert
      }, soon),
  }
}
const listenLive = async () => {
  const page = listen()
  await vi.waitFor(() => expect(page.book.health().state).toBe('live'), soon)
  await vi.waitFor(() => expect(page.book.pollHealth().looked_ms).not.toBeNull(), soon)
  return page
}
const post = (path: string, body?: unknown) => gateway.ask(cookie, 'POST', path, body)
const acknowledge = (...ids: string[]) => post('/api/alerts/acknowledge', { ids })
/** Restarts the watch; the next connection repeats `evictions`. */
const reconnect = async (...evictions: Eviction[]) => {
  pending = evictions
  const before = watches.length
  watches.at(-1)?.response.destroy()
  await vi.waitFor(() => expect(watches.length).toBeGreaterThan(before), soon)
}
const send = (...evictions: Eviction[]) => watches.at(-1)?.response.write(evictions.map(eventOf).join(''))
const lookups = (id: string) => requests.filter((each) => each === `GET /v1/devboxes/${id}`).length
const untilLookedUp = (id: string, before: number) =>
  vi.waitFor(() => expect(lookups(id)).toBeGreaterThan(before), soon)

describe('an eviction', () => {
  it('keeps its acknowledgment across withdrawal and a new report, without a second alarm', async () => {
    const [one, other] = [eviction('dbx_1'), eviction('dbx_2')]
    pending = [one, other]
    const page = listen()
    for (const id of ['dbx_1', 'dbx_2']) await page.until(id, { state: 'new', devbox_name: `name of ${id}` })
    await acknowledge(page.alerts.get('dbx_1')?.id ?? '')
    for (let round = 0; round < 2; round++) {
      await reconnect()
      for (const id of ['dbx_1', 'dbx_2']) await page.until(id, { state: 'withdrawn' })
      await reconnect(other, one)
      await page.until('dbx_1', { state: 'acknowledged', acknowledged_by: 'Ada', alarms: 1, closed_ms: null })
      await page.until('dbx_2', { state: 'new', acknowledged_by: null, alarms: 1, closed_ms: null })
    }
    const eventsOf = (id: string) =>
      received.filter((each) => each.endsWith(` ${id}`)).map((each) => each.split(' ')[0])
    const open = { dbx_1: 'acknowledged', dbx_2: 'raised' }
    for (const [id, event] of Object.entries(open))
      await vi.waitFor(() => expect(eventsOf(id).slice(-4)).toEqual(['closed', event, 'closed', event]), soon)
    expect(eventsOf('dbx_1').filter((each) => each === 'raised')).toHaveLength(1)
  })

  it('survives a console restart even if the service is slow to repeat it', async () => {
    counts = false
    const one = eviction('dbx_1')
    pending = [one]
    const page = listen()
    await acknowledge((await page.until('dbx_1', { devbox_name: 'name of dbx_1' })).id)
    const { dataDir } = gateway.registry.config
    pending = []
    const again = await startConsole({ url: service.url }, { dataDir })
    const next = await listenLive()
    await next.until('dbx_1', { state: 'acknowledged' })
    send(one, eviction('dbx_2'))
    await next.until('dbx_2', { state: 'new' })
    expect(next.changed().map(({ devbox_id }) => devbox_id)).not.toContain('dbx_1')
    await again.close()
  })

  it('is marked late only if a reconnect reported it', async () => {
    const page = await listenLive()
    send(eviction('dbx_1'))
    await page.until('dbx_1', { found_late: false })
    await reconnect(eviction('dbx_2'))
    await page.until('dbx_2', { found_late: true })
    send(eviction('dbx_3'))
    await page.until('dbx_3', { found_late: false })
  })

  it('names who suspended or shut down its devbox before the deadline', async () => {
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
    await vi.waitFor(() =>
      expect(page.changed()).toContainEqual(expect.objectContaining({ stopped: { how: 'failed', by: null } })),
    )
  })

  it('raises no alarm for a suspended devbox until it runs again', async () => {
    const one = eviction('dbx_1')
    pending = [one]
    const page = listen()
    await acknowledge((await page.until('dbx_1', { state: 'new' })).id)
    devboxes = { dbx_1: { status: 'suspended' } }
    await post('/api/v1/devboxes/dbx_1/suspend')
    await page.until('dbx_1', { state: 'stopped' })
    // The service reports it all the same.
    await reconnect(one, eviction('dbx_2'))
    await page.until('dbx_2', { state: 'new' })
    expect(page.alerts.get('dbx_1')).toMatchObject({ state: 'stopped' })
    devboxes = {}
    await reconnect()
    await reconnect(one)
    await page.until('dbx_1', { state: 'acknowledged', alarms: 1 })
  })

  it('stays open after its deadline until the service reports the outcome', async () => {
    const page = await listenLive()
    failing = { '/v1/devboxes/dbx_1': 503 }
    // More than the error of the estimated clock difference.
    send(eviction('dbx_1', -5_000))
    await page.until('dbx_1', { state: 'new' })
    const before = lookups('dbx_1')
    await reconnect()
    await untilLookedUp('dbx_1', before)
    expect(page.alerts.get('dbx_1')).toMatchObject({ state: 'new' })
    failing = {}
    devboxes = { dbx_1: { status: 'suspended' } }
    await reconnect()
    await page.until('dbx_1', { state: 'ended' })
  })

  it('stays open if it is reported again during a devbox lookup', async () => {
    const page = await listenLive()
    const one = eviction('dbx_1')
    send(one)
    await page.until('dbx_1', { state: 'new', devbox_name: 'name of dbx_1' })
    const describing = Promise.withResolvers<void>()
    held = describing.promise
    const before = lookups('dbx_1')
    await reconnect()
    await untilLookedUp('dbx_1', before)
    send(one)
    held = undefined
    send(eviction('dbx_2'))
    await page.until('dbx_2', { state: 'new' })
    describing.resolve()
    send(eviction('dbx_3'))
    await page.until('dbx_3', { devbox_name: 'name of dbx_3' })
    expect(page.alerts.get('dbx_1')).toMatchObject({ state: 'new' })
  })

  it('is announced after a restart if the console stopped during the lookup of its devbox', async () => {
    const page = await listenLive()
    const describing = Promise.withResolvers<void>()
    held = describing.promise
    pending = [eviction('dbx_1')]
    send(...pending)
    await page.until('dbx_1', { state: 'new', devbox_name: null })
    closeSlots()
    describing.resolve()
    const { body } = await gateway.ask(cookie, 'GET', '/api/alerts')
    expect(body).toMatchObject({ alerts: [] })
    await listen().until('dbx_1', { state: 'new', devbox_name: 'name of dbx_1', alarms: 1 })
    await vi.waitFor(() => expect(received).toEqual(['raised dbx_1']), soon)
  })
})

describe('the webhook without open pages', () => {
  it.each([401, 403, 404, 500])('is notified after the watch failed with %i', async (status) => {
    const { refusedWakeMs } = watchTimes
    watchTimes.refusedWakeMs = 1
    onTestFinished(() => {
      watchTimes.refusedWakeMs = refusedWakeMs
    })
    failing = { '/v1/devboxes/evictions/watch': status }
    pending = [eviction('dbx_1')]
    await startReceivers(new AbortController().signal)
    await vi.waitFor(() => expect(alertBookFor(owner).health().state).toMatch(/refused|retrying/), soon)
    failing = {}
    // Any other call with the key that succeeds.
    await gateway.fetch('/api/v1/axons', { cookie })
    await vi.waitFor(() => expect(received).toEqual(['raised dbx_1']), soon)
  })

  it('is notified if the service has no accounts', async () => {
    failing = { '/v1/accounts/me': 404 }
    pending = [eviction('dbx_1')]
    await startReceivers(new AbortController().signal)
    await vi.waitFor(() => expect(received).toEqual(['raised dbx_1']), soon)
  })
})

it('follows up an alert silenced after its announcement, but not one silenced before', async () => {
  const [loud, quiet] = [eviction('dbx_loud'), eviction('dbx_quiet')]
  pending = [loud]
  const page = listen()
  await page.until('dbx_loud', { devbox_name: 'name of dbx_loud' })
  await post('/api/alerts/silences', { metadata: { team: 'core' }, until_ms: Date.now() + hour, comment: '' })
  await reconnect(loud, quiet)
  await page.until('dbx_quiet', { withheld: 'first' })
  await reconnect()
  for (const id of ['dbx_loud', 'dbx_quiet']) await page.until(id, { state: 'withdrawn' })
  await vi.waitFor(() => expect(received).toContain('closed dbx_loud'), soon)
  expect(received.toSorted()).toEqual(['closed dbx_loud', 'raised dbx_loud'])
})

it('raises and acknowledges 5,000 alerts in small batches per event loop turn', async () => {
  const count = 5_000
  pending = Array.from({ length: count }, (_, n) => eviction(`dbx_${n}`))
  devboxes = Object.fromEntries(pending.map(({ devbox_id }) => [devbox_id, { launch_parameters: {} }]))
  const page = listen()
  let handled = 0
  let maxInOneTurn = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      await setImmediate()
      const { length } = page.changed()
      maxInOneTurn = Math.max(maxInOneTurn, length - handled)
      handled = length
    }
  })()
  await vi.waitFor(() => expect(page.alerts.size).toBe(count), soon)
  const announced = [`alert.raised ${count}`]
  await vi.waitFor(() => expect(messages).toEqual(announced), soon)
  const { body } = await acknowledge(...[...page.alerts.values()].map(({ id }) => id))
  expect(body.acknowledged).toHaveLength(count)
  isOver = true
  await watching
  expect([...page.alerts.values()].every(({ state }) => state === 'acknowledged')).toBe(true)
  expect(maxInOneTurn).toBeLessThanOrEqual(200)
  const { total_count } = page.book.history({ state: 'acknowledged', limit: 1 })
  expect(total_count).toBe(count)
  await vi.waitFor(() => expect(messages).toEqual([...announced, `alert.acknowledged ${count}`]), soon)
})

it('reminds receivers once at 10 and at 2 minutes, also across a restart', async () => {
  await gateway.close()
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-reminders-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const restart = async () => {
    gateway = await startConsole(
      { url: service.url },
      { dataDir, webhook: { url: receiver.url, secret: undefined, apiKey: key } },
    )
    listen()
  }
  const raised = () => received.filter((each) => each.startsWith('raised')).sort()
  pending = [eviction('dbx_10', 10 * minute + 3_000), eviction('dbx_2', 2 * minute + 3_000)]
  await restart()
  const twice = ['raised dbx_10', 'raised dbx_10', 'raised dbx_2', 'raised dbx_2']
  await vi.waitFor(() => expect(raised()).toEqual(twice), soon)
  for (const id of ['dbx_3', 'dbx_4']) {
    await gateway.close()
    pending.push(eviction(id))
    await restart()
    await vi.waitFor(() => expect(received).toContain(`raised ${id}`), soon)
  }
  expect(raised()).toEqual([...twice, 'raised dbx_3', 'raised dbx_4'])
})

it('reads the names of many evicted devboxes from lists, and of those not listed one by one', async () => {
  const ids = Array.from({ length: 500 }, (_, n) => `listed_${n}`)
  devboxes = Object.fromEntries(ids.slice(1).map((id) => [id, {}]))
  const page = await listenLive()
  const single = Promise.withResolvers<void>()
  held = single.promise
  send(...ids.toReversed().map((id) => eviction(id)))
  const unnamed = () => [...page.alerts.values()].filter(({ devbox_name }) => devbox_name === null)
  await vi.waitFor(() => {
    expect(page.alerts.size).toBe(ids.length)
    // Eight lookups had started, and one devbox is not listed.
    expect(unnamed()).toHaveLength(9)
  }, soon)
  single.resolve()
  await vi.waitFor(() => expect(unnamed()).toEqual([]), soon)
  expect(requests.filter((each) => /devboxes\/listed_/.test(each))).toHaveLength(9)
})

it('switches to the key of another page when the first is refused or its page closes', async () => {
  refusedKey = 'ak_revoked'
  const refused = listen(refusedKey)
  await vi.waitFor(() => expect(refused.book.health().state).toBe('refused'), soon)
  const page = await listenLive()
  expect(watches.map(({ key }) => key)).toEqual([key])
  send(eviction('dbx_1'))
  await refused.until('dbx_1', { state: 'new' })
  const other = listen('ak_other')
  refused.leave()
  page.leave()
  await vi.waitFor(() => expect(watches.at(-1)?.key).toBe('ak_other'), soon)
  send(eviction('dbx_2'))
  await other.until('dbx_2', { state: 'new' })
})

describe('polling', () => {
  it('alerts before keep-alive time runs out, and withdraws after a keep-alive call', async () => {
    devboxes = { dbx_1: {}, dbx_2: { initiator_type: 'scenario' } }
    const page = await listenLive()
    // Estimated from the start, because this service does not report the end.
    await page.until('dbx_1', { kind: 'end', state: 'new', end: { cause: 'keep_alive', is_at_least: true } })
    expect(page.alerts.size).toBe(1)
    await post('/api/v1/devboxes/dbx_1/keep_alive')
    await page.until('dbx_1', { kind: 'end', state: 'moved' })
  })

  it('uses the end time the service reports, and records the outcome', async () => {
    const deadline_ms = Date.now() + 3 * minute
    devboxes = { dbx_1: { keep_alive_until_ms: deadline_ms } }
    const page = await listenLive()
    await page.until('dbx_1', { kind: 'end', state: 'new', deadline_ms })
    devboxes = { dbx_1: { status: 'shutdown', end_time_ms: Date.now() } }
    page.poll()
    await page.until('dbx_1', { kind: 'end', state: 'ended', deadline_ms })
  })

  it('alerts before an idle shutdown, but not before an idle suspend', async () => {
    const idle = (on_idle: string) => ({
      launch_parameters: { after_idle: { idle_time_seconds: 600, on_idle } },
      last_used_ms: Date.now() - 8 * minute,
    })
    devboxes = { dbx_1: idle('shutdown'), dbx_2: idle('suspend'), dbx_3: { launch_parameters: {} } }
    const page = await listenLive()
    await page.until('dbx_1', { kind: 'end', end: { cause: 'idle', is_at_least: false } })
    expect(page.alerts.size).toBe(1)
    expect(page.book.pollHealth()).toMatchObject({ watched: 2, running: 3, has_more: false, problem: null })
  })

  it('alerts once about a new failure, and not about earlier ones', async () => {
    devboxes = { dbx_old: { status: 'failure', end_time_ms: Date.now() - 30 * minute } }
    const page = await listenLive()
    devboxes = { ...devboxes, dbx_1: { status: 'failure', end_time_ms: Date.now() } }
    page.poll()
    const { id } = await page.until('dbx_1', { kind: 'failure', state: 'new', found_late: false })
    await acknowledge(id)
    await page.until('dbx_1', { kind: 'failure', state: 'seen', acknowledged_by: 'Ada' })
    const polled = page.book.pollHealth().looked_ms
    page.poll()
    await vi.waitFor(() => expect(page.book.pollHealth().looked_ms).not.toBe(polled), soon)
    expect([page.alerts.size, page.alerts.get('dbx_1')?.state]).toEqual([1, 'seen'])
  })

  it('alerts every page when a followed job ends, then stops following it', async () => {
    jobs = { bmj_1: 'running', bmj_2: 'completed' }
    const page = await listenLive()
    const follow = (job_id: string) => post('/api/alerts/followed-jobs', { job_id })
    const statuses = [await follow('bmj_1'), await follow('bmj_none'), await follow('bmj_2')].map(
      ({ status }) => status,
    )
    expect(statuses).toEqual([200, 404, 409])
    expect(page.book.snapshot().data).toMatchObject({ followed_jobs: ['bmj_1'] })
    jobs = { bmj_1: 'completed' }
    page.poll()
    await page.until('', { kind: 'job', job: { id: 'bmj_1', name: 'nightly', state: 'completed' } })
    expect(page.book.snapshot().data).toMatchObject({ followed_jobs: [] })
  })

  it('happens once for all pages, at once when the service is back, and reports failures', async () => {
    const [page] = [await listenLive(), await listenLive()]
    const lists = () => requests.filter((call) => call === 'GET /v1/devboxes').length
    expect(lists()).toBe(2)
    failing = { '/v1/devboxes': 503 }
    page?.poll()
    await vi.waitFor(() => expect(page?.book.pollHealth().problem).toBe('The service responded with 503'), soon)
    failing = {}
    await reconnect()
    await vi.waitFor(() => expect(page?.book.pollHealth().problem).toBeNull(), soon)
    const { reconnects, gaps } = page?.book.health() ?? {}
    expect([reconnects, gaps?.length]).toEqual([1, 1])
  })
})

it('prunes the oldest closed alerts', async () => {
  const page = await listenLive()
  const { store } = alerts()
  const test = page.book.test()
  const insert = (n: number) =>
    store.put('many', { ...test, id: `test@${n}`, state: 'ended', first_heard_ms: n, closed_ms: n })
  for (let n = 0; n < 10_200; n++) insert(n)
  expect(store.history('many', { limit: 1 }).total_count).toBeLessThan(10_110)
  expect(store.get('many', 'test@0')).toBeUndefined()
})
