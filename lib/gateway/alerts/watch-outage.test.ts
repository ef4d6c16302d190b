import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { pendingCountHeader } from '#lib/contract/evictions.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { closeSlots } from '../registry/registry.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { alertBookFor, startReceivers } from './alert-books.ts'

const soon = { timeout: 30_000 }
const owner = { account: { id: 'acc', name: 'Ada' }, api_key: 'ak_scripted' }

let service: Awaited<ReturnType<typeof startServer>>
/** Responses to the eviction stream and to polls; 0 destroys the connection. */
let status: { stream: number; poll: number }
/** Sent on every connection of the stream. */
let replay: string
let streams: ServerResponse[]
let gateway: TestConsole
let page: ReturnType<typeof openPage>

const openPage = () => {
  const book = alertBookFor(owner)
  const alerts = new Map<string, Alert>()
  book.join(owner.api_key, {
    onItem: ({ event, data }) => {
      if (event === 'snapshot') for (const alert of data.alerts) alerts.set(alert.id, alert)
      if (event === 'alert') alerts.set(data.id, data)
    },
  })
  return {
    book,
    outages: () => [...alerts.values()].filter(({ kind }) => kind === 'watch'),
    stateOf: (id: string) => [...alerts.values()].find(({ devbox_id }) => devbox_id === id)?.state,
    poll: () => book.onKeepAlive('nobody'),
  }
}
const sees = () => vi.waitFor(() => expect(page.book.sees).toBe(true), soon)
const seesAgain = async () => {
  page.poll()
  await vi.waitFor(
    () => expect([page.book.health().state, page.book.pollHealth().problem]).toEqual(['live', null]),
    soon,
  )
}

beforeEach(async () => {
  status = { stream: 200, poll: 200 }
  replay = ''
  streams = []
  service = await startServer(({ url = '' }, response) => {
    const isStream = url.endsWith('/watch')
    const code = status[isStream ? 'stream' : 'poll']
    if (code === 0) return response.destroy()
    response.setHeader('date', new Date().toUTCString())
    if (code !== 200) return response.writeHead(code).end()
    if (isStream) {
      streams.push(response)
      const count = { [pendingCountHeader]: String(replay.split('data:').length - 1) }
      return response
        .writeHead(200, { 'content-type': 'text/event-stream', ...count })
        .write(`: connected\n\n${replay}`)
    }
    response.setHeader('content-type', 'application/json')
    if (url.endsWith('/me')) return response.end(JSON.stringify(owner.account))
    const devbox = { id: 'dbx_1', status: 'running', create_time_ms: 1, metadata: {} }
    response.end(JSON.stringify(url.includes('dbx_1') ? devbox : { devboxes: [], has_more: false }))
  })
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date', 'setInterval', 'clearInterval'] })
  gateway = await startConsole(service)
  page = openPage()
  await sees()
})
afterEach(async () => {
  await gateway.close()
  service.close()
  vi.useRealTimers()
})

const cut = async (state: 'refused' | 'retrying') => {
  streams.at(-1)?.destroy()
  await vi.waitFor(() => expect(page.book.health().state).toBe(state), soon)
}
const failPolls = async () => {
  page.poll()
  await vi.waitFor(() => expect(page.book.pollHealth().problem).not.toBeNull(), soon)
}
const reconnect = async () => {
  const before = page.book.health().last_heard_ms
  page.book.refreshEvictions()
  await vi.waitFor(() => expect(page.book.health().last_heard_ms).toBeGreaterThan(before ?? 0), soon)
}
const readUnreadable = async () => {
  const before = page.book.health().unreadable
  await reconnect()
  await vi.waitFor(() => expect(page.book.health().unreadable).toBeGreaterThan(before), soon)
}

it.each<[string, NonNullable<Alert['watch']>['cause'], number, () => Promise<unknown>, () => unknown]>([
  [
    'refuses the key',
    'refused',
    60,
    () => {
      status = { stream: 401, poll: 401 }
      return cut('refused')
    },
    () => undefined,
  ],
  [
    'is down',
    'unreachable',
    60,
    () => {
      status = { stream: 0, poll: 0 }
      return cut('retrying')
    },
    () => undefined,
  ],
  [
    'fails every poll',
    'unreachable',
    60,
    () => {
      status.poll = 503
      return failPolls()
    },
    reconnect,
  ],
  [
    'sends unreadable events',
    'unreadable',
    60,
    async () => {
      replay = 'data: {"devbox_id":"dbx_1"}\n\n'
      await readUnreadable()
      await readUnreadable()
    },
    () => {
      replay = ''
      return reconnect()
    },
  ],
  ['is silent', 'late', 90, async () => page.poll(), reconnect],
])('alerts once when the service %s for a minute, until it is seen again', async (_, cause, seconds, start, end) => {
  await start()
  vi.advanceTimersByTime((seconds - 5) * 1_000)
  status = { stream: 200, poll: 200 }
  await end()
  await seesAgain()
  vi.advanceTimersByTime(10_000)
  expect([page.book.sees, page.outages()]).toEqual([true, []])

  await start()
  vi.advanceTimersByTime((seconds + 5) * 1_000)
  vi.advanceTimersByTime(3_600_000)
  expect(page.outages()).toMatchObject([{ state: 'new', alarms: 1, watch: { cause, account: 'Ada' } }])
  expect(page.book.sees).toBe(false)
  status = { stream: 200, poll: 200 }
  await end()
  await seesAgain()
  await sees()
  expect(page.outages()).toMatchObject([{ state: 'resolved', alarms: 1 }])
})

it('does not alert about a service without an eviction stream', async () => {
  await gateway.close()
  status.stream = 404
  gateway = await startConsole(service)
  page = openPage()
  await vi.waitFor(() => expect(page.book.health().state).toBe('refused'), soon)
  await vi.waitFor(() => expect(page.book.pollHealth().looked_ms).not.toBeNull(), soon)
  vi.advanceTimersByTime(120_000)
  expect([page.book.sees, page.outages()]).toEqual([true, []])
})

it('stays the same alert across a restart and an acknowledgment', async () => {
  status = { stream: 503, poll: 503 }
  await cut('retrying')
  vi.advanceTimersByTime(65_000)
  const [{ id } = { id: '' }] = page.outages()
  const { dataDir } = gateway.registry.config
  const next = await startConsole(service, { dataDir })
  page = openPage()
  await page.book.acknowledge([id], 'Ada')
  await vi.waitFor(() => expect(page.book.health().state).toBe('retrying'), soon)
  vi.advanceTimersByTime(65_000)
  expect(page.outages()).toMatchObject([{ id, state: 'acknowledged' }])
  status = { stream: 200, poll: 200 }
  await seesAgain()
  await sees()
  expect(page.outages()).toMatchObject([{ id, state: 'resolved', acknowledged_by: 'Ada' }])
  await next.close()
})

it('is announced by a console that starts during it, with no page open', async () => {
  const received: string[] = []
  const receiver = await startServer(async (request, response) => {
    const { event, alert } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    received.push(`${event} ${alert.kind}`)
    response.end()
  })
  const { dataDir } = gateway.registry.config
  const webhook = { url: receiver.url, secret: undefined, apiKey: owner.api_key }
  const before = await startConsole(service, { dataDir, webhook })
  await startReceivers(AbortSignal.timeout(60_000))
  closeSlots()
  status = { stream: 0, poll: 0 }
  const next = await startConsole(service, { dataDir, webhook })
  const ending = new AbortController()
  const starting = startReceivers(ending.signal)
  await vi.waitFor(() => expect(alertBookFor(owner).health().state).toBe('retrying'), soon)
  vi.advanceTimersByTime(65_000)
  await vi.waitFor(() => expect(received).toEqual(['alert.raised watch']), soon)
  ending.abort()
  await starting
  for (const each of [before, next]) await each.close()
  receiver.close()
})

it('keeps a pending eviction that the service repeats unreadably', async () => {
  const eviction = { devbox_id: 'dbx_1', eviction_deadline_ms: Date.now() + 3_600_000 }
  replay = `data: ${JSON.stringify(eviction)}\n\n`
  await reconnect()
  await vi.waitFor(() => expect(page.stateOf('dbx_1')).toBe('new'), soon)
  replay = 'data: {"devbox_id":"dbx_1"}\n\n'
  await readUnreadable()
  await readUnreadable()
  expect(page.stateOf('dbx_1')).toBe('new')
  replay = ''
  await reconnect()
  await vi.waitFor(() => expect(page.stateOf('dbx_1')).toBe('withdrawn'), soon)
})

it('raises nothing when this machine wakes from sleep', async () => {
  vi.setSystemTime(Date.now() + 3_600_000)
  vi.advanceTimersByTime(5_000)
  expect(page.outages()).toEqual([])
})

it('raises nothing for a service that is silent between regular reconnects', async () => {
  for (let minutes = 0; minutes < 10; minutes++) {
    vi.advanceTimersByTime(60_000)
    await reconnect()
  }
  expect([page.book.health().state, page.outages()]).toEqual(['live', []])
})
