import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { backoffMs } from '#lib/client/backoff.ts'
import { type Eviction, pendingCountHeader } from '#lib/contract/evictions.ts'
import { seededRandom } from '#lib/service/testing/random.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { onKeyAccepted } from '../upstream/client.ts'
import { type EvictionEvent, EvictionWatch, watchTimes } from './eviction-watch.ts'

const inOneHour = () => Date.now() + 3_600_000
const eviction = (devbox_id: string, eviction_deadline_ms = inOneHour()): Eviction => ({
  devbox_id,
  eviction_deadline_ms,
})

let service: Awaited<ReturnType<typeof startServer>>
let gateway: TestConsole
let connections: ServerResponse[]
let onWatch: (response: ServerResponse, request: IncomingMessage) => void
const watches: EvictionWatch[] = []

beforeEach(async () => {
  // A server of its own, because a closed watch's last connection may arrive after the test that made it.
  connections = []
  const own = connections
  onWatch = openWith()
  service = await startServer((request, response) => {
    own.push(response)
    onWatch(response, request)
  })
  gateway = await startConsole(service)
})
afterEach(async () => {
  for (const watch of watches.splice(0)) watch.close()
  vi.restoreAllMocks()
  await gateway.close()
  service.close()
})

const send = (response: ServerResponse | undefined, ...evictions: Eviction[]) => {
  for (const each of evictions) response?.write(`data: ${JSON.stringify(each)}\n\n`)
}
const openWith =
  (...evictions: Eviction[]) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
    send(response, ...evictions)
  }

/** Events such as `eviction dbx_1`, `removed dbx_1` and `upstream live`. */
const follow = (times: Partial<typeof watchTimes> = {}, known: Eviction[] = []) => {
  const events: EvictionEvent[] = []
  const holder = { account: { id: 'scripted', name: '' }, api_key: 'ak_scripted' }
  const watch = new EvictionWatch(holder, (event) => events.push(event), known, {
    ...watchTimes,
    firstMs: 1,
    maxMs: 20,
    ...times,
  })
  watches.push(watch)
  const names = () =>
    events.map((each) => `${each.event} ${each.event === 'upstream' ? each.data.state : each.data.devbox_id}`)
  return {
    watch,
    events,
    names,
    until: (...wanted: string[]) =>
      expect.poll(names, { timeout: 10_000, interval: 5 }).toEqual(expect.arrayContaining(wanted)),
  }
}

it('uses the latest deadline and reports a repeated one once', async () => {
  const [late, early] = [inOneHour(), inOneHour() - 600_000]
  const { events, until } = follow()
  await until('upstream live')
  const sent = [eviction('dbx_1', late), eviction('dbx_1', late), eviction('dbx_1', early), eviction('dbx_2', late)]
  send(connections[0], ...sent)
  await until('eviction dbx_2')
  expect(events.slice(1).map(({ data }) => data)).toEqual([sent[0], sent[2], sent[3]])
})

it('retries an embedded service quickly, however often it failed', async () => {
  const alone = await startConsole({ url: service.url, ownKey: 'ak_own' })
  onWatch = (response) => (connections.length < 8 ? response.destroy() : openWith()(response))
  await follow({ firstMs: 60_000, maxMs: 60_000, maxEmbeddedMs: 10 }).until('upstream live')
  expect(connections).toHaveLength(8)
  await alone.close()
})

it('reports a service that does not respond', async () => {
  onWatch = () => undefined
  const { events, until } = follow({ firstAnswerMs: 10 })
  await until('upstream retrying')
  expect(events).toMatchObject([{ data: { attempt: 0 } }])
})

describe('the replay of a new connection', () => {
  const one = eviction('dbx_1')
  const two = eviction('dbx_2')

  it.each([
    ['that was known before', { settleMs: 20, refreshMs: 200 }, [one], () => [two]],
    ['after a cut', { withdrawnMs: 500 }, [], () => (connections.length > 1 ? [two] : [one, two])],
  ])('removes an eviction %s and is not repeated', async (_, times, known, repeated) => {
    onWatch = (response) => {
      openWith(...repeated())(response)
      if (connections.length === 1) setTimeout(() => response.end(), 50)
    }
    const { watch, until } = follow(times, known)
    await until('eviction dbx_2', 'removed dbx_1')
    expect(watch.deadlineOf('dbx_2')).toBe(two.eviction_deadline_ms)
  })

  it('removes everything at once if the service reports none pending', async () => {
    onWatch = (response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream', [pendingCountHeader]: '0' }).flushHeaders()
    await follow({ withdrawnMs: 3_600_000 }, [one]).until('removed dbx_1')
  })

  it.each([
    ['slow and in any order', 30, { refreshMs: 200, settleMs: 20 }],
    ['slower than before', 60, { refreshMs: 300, settleMs: 5 }],
  ])('removes nothing when it is %s', async (_, delayMs, times) => {
    let rounds = 0
    onWatch = (response) => {
      openWith()(response)
      const repeated = rounds % 2 === 0 ? [one, two] : [two, one]
      setTimeout(() => send(response, ...repeated), rounds++ < 2 ? 0 : delayMs)
    }
    const { names } = follow(times)
    await expect.poll(() => rounds).toBeGreaterThan(5)
    expect(names().sort()).toEqual(['eviction dbx_1', 'eviction dbx_2', 'upstream live'])
  })

  it('removes nothing if the service never repeats any', async () => {
    const { watch, names } = follow({ refreshMs: 100, settleMs: 1 })
    onWatch = (response) => openWith(...(watch.deadlineOf('dbx_1') === undefined ? [one] : []))(response)
    await expect.poll(() => connections.length).toBeGreaterThan(5)
    expect(names()).not.toContain('removed dbx_1')
  })

  it.each([
    ['a proxy ends every stream early', 100, { settleMs: 20, withdrawnMs: 3_600_000, paceMs: 1 }],
    ['the service is slow', 0, { refreshMs: 300, settleMs: 1 }],
  ])('removes what is no longer repeated even if %s', async (_, endMs, times) => {
    onWatch = (response) => {
      openWith()(response)
      setTimeout(() => send(response, ...(connections.length > 3 ? [two] : [one, two])), endMs === 0 ? 30 : 0)
      if (endMs > 0) setTimeout(() => response.end(), endMs)
    }
    const { until, names } = follow(times)
    await until('removed dbx_1')
    expect(names()).not.toContain('removed dbx_2')
  })

  it.each([
    ['ends', (response: ServerResponse) => response.end()],
    ['cuts', (response: ServerResponse) => setTimeout(() => response.destroy(), 20)],
  ])('is no failure if a proxy %s every stream soon after its events', async (_, close) => {
    onWatch = (response) => {
      openWith(one)(response)
      close(response)
    }
    const { names } = follow({ paceMs: 20 })
    await expect.poll(() => connections.length).toBeGreaterThan(10)
    expect(names()).toEqual(['upstream live', 'eviction dbx_1'])
  })
})

it('backs off when streams end without any event', async () => {
  onWatch = (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end()
  await follow({ firstMs: 3_600_000, maxMs: 3_600_000 }).until('upstream retrying')
  expect(connections).toHaveLength(1)
})

it('is refused when the key is revoked during a working stream', async () => {
  onWatch = (response) => {
    openWith(eviction('dbx_1'))(response)
    response.end('event: error\ndata: {"code":"401","message":"revoked"}\n\n')
  }
  await follow({ refused: { firstMs: 3_600_000, maxMs: 3_600_000 } }).until('upstream refused')
  expect(connections).toHaveLength(1)
})

it('removes an eviction some time after its deadline, and accepts a service that keeps repeating it', async () => {
  onWatch = openWith(eviction('dbx_1', Date.now() + 200))
  const { watch, until } = follow({ expiryCheckMs: 20, passedMs: 0, refreshMs: 50 })
  await until('removed dbx_1')
  const before = connections.length
  await expect.poll(() => connections.length).toBeGreaterThan(before + 2)
  expect(watch.unreadable.count).toBe(0)
})

it('reports an eviction again that it removed while the clock of the service was ahead', async () => {
  let aheadMs = 3_600_000
  const halfAnHour = eviction('dbx_1', Date.now() + 1_800_000)
  onWatch = (response) => {
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString())
    openWith(halfAnHour)(response)
  }
  const { names, until } = follow({ expiryCheckMs: 20, refreshMs: 50 }, [halfAnHour])
  await until('removed dbx_1')
  aheadMs = 0
  await until('eviction dbx_1')
  expect(names().filter((name) => name.endsWith('dbx_1'))).toEqual(['removed dbx_1', 'eviction dbx_1'])
})

const sentMs = Date.now()
it.each([
  ['not JSON', 'data: soon'],
  ['oversized', `data: "${'x'.repeat(5_000_000)}"`],
  ['an empty id', 'data: {"devbox_id":""}'],
  ['a date as deadline', `data: {"devbox_id":"dbx_1","eviction_deadline_ms":"${new Date().toISOString()}"}`],
  ['a deadline in seconds', `data: {"devbox_id":"dbx_1","eviction_deadline_ms":${Math.ceil(sentMs / 1000) + 600}}`],
  ['a deadline in microseconds', `data: {"devbox_id":"dbx_1","eviction_deadline_ms":${sentMs * 1000}}`],
  ['a deadline from yesterday', `data: {"devbox_id":"dbx_1","eviction_deadline_ms":${sentMs - 86_400_000}}`],
  ['an oversized id', `data: {"devbox_id":"${'d'.repeat(5000)}","eviction_deadline_ms":9000000000000}`],
])('counts an unreadable event: %s', async (_, event) => {
  const logged = vi.spyOn(console, 'error').mockReturnValue(undefined)
  const { watch, until } = follow()
  await until('upstream live')
  connections[0]?.write(`${event}\n\n`)
  send(connections[0], eviction('dbx_2'))
  await until('eviction dbx_2')
  expect(watch.unreadable).toEqual({ count: 1, reason: expect.any(String) })
  expect(logged).toHaveBeenCalledOnce()
})

it.each([400, 401, 404, 429, 500])('keeps retrying after a %i', async (status) => {
  onWatch = (response) =>
    connections.length < 9 ? response.writeHead(status, { 'retry-after': '0' }).end() : openWith()(response)
  await follow({ refused: { firstMs: 1, maxMs: 20 } }).until('upstream live')
})

it.each([401, 403, 404, 500])('retries after a %i soon after another call with the key succeeds', async (status) => {
  onWatch = (response) => response.writeHead(status).end()
  const long = 3_600_000
  const times = { maxMs: long, firstMs: long, maxWakeMs: 1, refusedWakeMs: 1, refused: { firstMs: long, maxMs: long } }
  const { events, until } = follow(times)
  await until(status === 500 ? 'upstream retrying' : 'upstream refused')
  expect(events.at(-1)).toMatchObject({ data: { attempt: 1 } })
  onWatch = openWith()
  onKeyAccepted('ak_other')
  onKeyAccepted('ak_scripted')
  await until('upstream live')
  expect(connections).toHaveLength(2)
})

it('honors Retry-After', async () => {
  onWatch = (response) => response.writeHead(429, { 'retry-after': '30' }).end()
  const { events, until } = follow()
  await until('upstream retrying')
  const [first] = events
  expect(first?.event === 'upstream' && first.data.retry_at_ms).toBeGreaterThan(sentMs + 29_000)
})

it('reconnects to a silent service without reporting an outage', async () => {
  const { names, until } = follow({ silenceMs: 500 })
  await until('upstream live')
  onWatch = openWith(eviction('dbx_1'))
  await until('eviction dbx_1')
  expect(names()).toEqual(['upstream live', 'eviction dbx_1'])
  expect(connections.length).toBeGreaterThan(1)
})

describe('the backoff', () => {
  it('grows with jitter, from at most two seconds to thirty attempts in ten minutes', () => {
    expect(backoffMs(0, watchTimes, () => 1)).toBeLessThanOrEqual(2_000)
    const waits: number[] = []
    for (let ms = 0; ms < 600_000; ms += waits.at(-1) ?? 0) waits.push(backoffMs(waits.length, watchTimes, () => 0.5))
    expect(waits.length).toBeLessThanOrEqual(30)
    expect(waits.slice(0, 5).every((wait, i) => wait < (waits[i + 1] ?? 0))).toBe(true)
    expect(backoffMs(80, watchTimes, () => 0)).not.toBe(backoffMs(80, watchTimes, () => 1))
  })

  it.each([10, 30, 60, 600])('spreads 500 consoles once a service returns after %i s', (awaySeconds) => {
    const below = seededRandom(awaySeconds)
    const returns = Array.from({ length: 500 }, () => {
      let ms = 0
      for (let attempt = 0; ms < awaySeconds * 1000; attempt++)
        ms += backoffMs(attempt, watchTimes, () => below(1e6) / 1e6)
      return ms
    }).sort((a, b) => a - b)
    expect((returns.at(-1) ?? 0) - (returns[0] ?? 0)).toBeGreaterThan(5_000)
    const inOneSecond = returns.map((from) => returns.filter((ms) => ms >= from && ms < from + 1_000).length)
    expect(Math.max(...inOneSecond)).toBeLessThanOrEqual(125)
  })

  it('tries a refused key once a minute at most', () => {
    const { refused, refusedWakeMs } = watchTimes
    expect(
      Math.min(
        backoffMs(0, refused, () => 0),
        refusedWakeMs,
      ),
    ).toBeGreaterThanOrEqual(60_000)
  })

  it('stays below a minute while the key is accepted', () => {
    const { firstMs, maxMs, maxRetryAfterMs } = watchTimes
    expect(
      Math.max(
        backoffMs(20, { firstMs, maxMs }, () => 1),
        maxRetryAfterMs,
      ),
    ).toBeLessThan(60_000)
  })
})
