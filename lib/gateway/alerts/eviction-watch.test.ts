import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { backoffMs } from '#lib/client/backoff.ts'
import { type Eviction, pendingCountHeader } from '#lib/contract/evictions.ts'
import { startService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { onKeyAccepted } from '../upstream/client.ts'
import type { EvictionEvent, EvictionSnapshot, EvictionWatch } from './eviction-listener.ts'
import { EvictionStreamWatch, evictionWatches, evictionWatchFor, watchTimes } from './eviction-watch.ts'

type TestEvent = EvictionEvent | { event: 'snapshot'; data: EvictionSnapshot }
type DataOf<Name extends TestEvent['event']> = Extract<TestEvent, { event: Name }>['data']

/** Everything a listener of the watch receives, and a way to consume it one event at a time. */
const follow = (watch: EvictionWatch) => {
  const events: TestEvent[] = []
  let read = 0
  const listener = {
    start: (data: EvictionSnapshot) => events.push({ event: 'snapshot', data }),
    // Events before the snapshot are part of it.
    onEvent: (event: EvictionEvent) => events.length > 0 && events.push(event),
    end: () => undefined,
  }
  watch.join(listener)
  return {
    events,
    /** The next event with this name; skips others. */
    until: async <Name extends TestEvent['event']>(name: Name): Promise<DataOf<Name>> => {
      const isNext = (event: TestEvent, i: number) => i >= read && event.event === name
      await expect.poll(() => events.some(isNext), { timeout: 10_000, interval: 5 }).toBe(true)
      const index = events.findIndex(isNext)
      read = index + 1
      return events[index]?.data as DataOf<Name>
    },
    leave: () => watch.leave(listener),
  }
}

const inOneHour = () => Date.now() + 3_600_000

it('recovers after a service restart without losing or repeating an eviction', async () => {
  const service = await startService()
  const gateway = await startConsole({ url: service.url })
  const holder = { account: await service.client.accounts.me(), api_key: service.key }
  const { id } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
  const first = { devbox_id: id, eviction_deadline_ms: inOneHour() }
  await service.client.evictions.schedule({ body: first })
  const page = follow(evictionWatchFor(holder))
  expect(await page.until('snapshot')).toMatchObject({ evictions: [first], upstream: { state: 'live', attempt: 0 } })
  await service.restart()
  await service.client.devboxes.waitForStatus({ params: { id }, body: { statuses: ['running'] } })
  const moved = { devbox_id: id, eviction_deadline_ms: first.eviction_deadline_ms + 60_000 }
  await service.client.evictions.schedule({ body: moved })
  expect(await page.until('eviction')).toEqual(moved)
  expect(page.events.filter(({ event }) => event === 'eviction')).toHaveLength(1)
  await gateway.close()
  await service.close()
})

describe('with a scripted service', () => {
  let recorder: Server
  let gateway: TestConsole
  let connections: ServerResponse[]
  let onWatch: (response: ServerResponse, request: IncomingMessage) => void
  const watches: EvictionStreamWatch[] = []

  const send = (response: ServerResponse | undefined, ...evictions: Eviction[]) => {
    for (const eviction of evictions) response?.write(`data: ${JSON.stringify(eviction)}\n\n`)
  }
  const openWith =
    (...evictions: Eviction[]) =>
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
      send(response, ...evictions)
    }
  const watchWith = (times: Partial<typeof watchTimes> = {}) => {
    const watch = new EvictionStreamWatch(
      { account: { id: 'scripted', name: '' }, api_key: 'ak_scripted' },
      undefined,
      {
        ...watchTimes,
        firstMs: 1,
        maxMs: 20,
        ...times,
      },
    )
    watches.push(watch)
    return watch
  }
  /** The clock is a little more than `ms` ahead from now on. */
  const inTheFuture = (ms: number) => {
    const now = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => now() + ms + 1)
  }
  const eviction = (devbox_id: string, eviction_deadline_ms = inOneHour()): Eviction => ({
    devbox_id,
    eviction_deadline_ms,
  })

  beforeAll(async () => {
    recorder = createServer((request, response) => {
      if (request.url === '/v1/accounts/me')
        return response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"acc","name":"Scripted"}')
      connections.push(response)
      onWatch(response, request)
    }).listen(0, '127.0.0.1')
    await once(recorder, 'listening')
    gateway = await startConsole({ url: `http://127.0.0.1:${(recorder.address() as AddressInfo).port}` })
  })
  beforeEach(() => {
    connections = []
    onWatch = openWith()
  })
  afterEach(() => {
    for (const watch of watches.splice(0)) watch.close()
    vi.restoreAllMocks()
  })
  afterAll(async () => {
    await gateway.close()
    recorder.close()
    recorder.closeAllConnections()
  })

  it('opens one stream for any number of listeners and closes it when the last one leaves', async () => {
    const watch = watchWith({ lingerMs: 0 })
    const streams = Array.from({ length: 50 }, () => follow(watch))
    await Promise.all(streams.map((stream) => stream.until('snapshot')))
    expect(connections).toHaveLength(1)
    send(connections[0], eviction('dbx_1'))
    for (const stream of streams) expect((await stream.until('eviction')).devbox_id).toBe('dbx_1')
    const closed = once(connections[0]!, 'close')
    for (const stream of streams) stream.leave()
    await closed
  })

  it('shares one watch per key', async () => {
    const account = { id: 'scripted', name: '' }
    const watches = ['ak_a', 'ak_a', 'ak_b'].map((api_key) => evictionWatchFor({ account, api_key }))
    await Promise.all(watches.map((watch) => follow(watch).until('snapshot')))
    expect(evictionWatches().size).toBe(2)
    expect(connections).toHaveLength(2)
    for (const watch of [...evictionWatches().values()]) watch.close()
    expect(evictionWatches().size).toBe(0)
  })

  it('uses the latest deadline and reports a repeated one once', async () => {
    const [late, early] = [inOneHour(), inOneHour() - 600_000]
    const stream = follow(watchWith())
    await stream.until('snapshot')
    send(
      connections[0],
      eviction('dbx_1', late),
      eviction('dbx_1', late),
      eviction('dbx_1', early),
      eviction('dbx_2', late),
    )
    const reported = [await stream.until('eviction'), await stream.until('eviction'), await stream.until('eviction')]
    expect(reported).toEqual([eviction('dbx_1', late), eviction('dbx_1', early), eviction('dbx_2', late)])
  })

  it('retries an embedded service quickly, however often it failed', async () => {
    const alone = await startConsole({ url: gateway.registry.service.url(), ownKey: 'ak_own' })
    onWatch = (response) => (connections.length < 8 ? response.destroy() : openWith()(response))
    const times = { firstMs: 60_000, maxMs: 60_000, maxEmbeddedMs: 10 }
    const stream = follow(watchWith(times))
    for (let state = ''; state !== 'live'; ) ({ state } = await stream.until('upstream'))
    expect(connections).toHaveLength(8)
    stream.leave()
    await alone.close()
  })

  it('removes an eviction that a new connection no longer repeats', async () => {
    const [one, two] = [eviction('dbx_1'), eviction('dbx_2')]
    onWatch = openWith(one, two)
    const stream = follow(watchWith({ withdrawnMs: 500, paceMs: 1 }))
    expect((await stream.until('snapshot')).evictions).toEqual([one, two])
    onWatch = openWith(two)
    connections[0]?.end()
    expect(await stream.until('removed')).toEqual({ devbox_id: 'dbx_1' })
  })

  it('removes the last eviction at once if the service reports none pending', async () => {
    onWatch = openWith(eviction('dbx_1'))
    const stream = follow(watchWith({ withdrawnMs: 3_600_000, paceMs: 1 }))
    await stream.until('snapshot')
    onWatch = (response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream', [pendingCountHeader]: '0' }).flushHeaders()
    connections[0]?.end()
    expect(await stream.until('removed')).toEqual({ devbox_id: 'dbx_1' })
  })

  /** Events a listener receives until `isOver`, with a shortened first snapshot. */
  const eventsUntil = async (watch: EvictionStreamWatch, isOver: () => boolean) => {
    const { events, until } = follow(watch)
    const { evictions, upstream } = await until('snapshot')
    await expect.poll(isOver).toBe(true)
    return [{ evictions, state: upstream.state }, ...events.slice(1)]
  }

  it('reports nothing on reconnect, however late and in whatever order the service repeats evictions', async () => {
    const all = ['dbx_1', 'dbx_2', 'dbx_3'].map((id) => eviction(id))
    let rounds = 0
    onWatch = (response) => {
      openWith()(response)
      const repeated = rounds++ % 2 === 0 ? all : all.toReversed()
      // Later than a service is given that has shown nothing yet.
      setTimeout(() => send(response, ...repeated), rounds === 1 ? 0 : 60)
    }
    const watch = watchWith({ refreshMs: 200, settleMs: 20 })
    expect(await eventsUntil(watch, () => rounds > 5)).toEqual([{ evictions: all, state: 'live' }])
  })

  it('keeps evictions when a fast service becomes slow to repeat them', async () => {
    const all = ['dbx_1', 'dbx_2'].map((id) => eviction(id))
    let rounds = 0
    onWatch = (response) => {
      openWith()(response)
      setTimeout(() => send(response, ...all), rounds++ < 2 ? 0 : 60)
    }
    const watch = watchWith({ refreshMs: 300, settleMs: 5 })
    expect(await eventsUntil(watch, () => rounds > 5)).toEqual([{ evictions: all, state: 'live' }])
  })

  it('removes unrepeated evictions even if a proxy ends every stream early', async () => {
    const [one, two] = [eviction('dbx_1'), eviction('dbx_2')]
    onWatch = (response) => {
      openWith(...(connections.length > 3 ? [two] : [one, two]))(response)
      setTimeout(() => response.end(), 100)
    }
    const stream = follow(watchWith({ settleMs: 20, withdrawnMs: 3_600_000, paceMs: 1 }))
    expect(await stream.until('removed')).toEqual({ devbox_id: 'dbx_1' })
  })

  it('keeps evictions if the service never repeats any', async () => {
    const watch = watchWith({ refreshMs: 100, settleMs: 1 })
    onWatch = (response) => openWith(...(watch.deadlineOf('dbx_1') === undefined ? [pending] : []))(response)
    const pending = eviction('dbx_1')
    expect(await eventsUntil(watch, () => connections.length > 5)).toEqual([{ evictions: [pending], state: 'live' }])
    expect(watch.deadlineOf('dbx_1')).toBe(pending.eviction_deadline_ms)
  })

  it('removes evictions that a slow service stopped repeating', async () => {
    const [one, two] = [eviction('dbx_1'), eviction('dbx_2')]
    onWatch = (response) => {
      openWith()(response)
      setTimeout(() => send(response, ...(connections.length > 3 ? [two] : [one, two])), 30)
    }
    const stream = follow(watchWith({ refreshMs: 300, settleMs: 1 }))
    expect(await stream.until('removed')).toEqual({ devbox_id: 'dbx_1' })
  })

  it.each([
    ['ends', (response: ServerResponse) => response.end()],
    ['cuts', (response: ServerResponse) => setTimeout(() => response.destroy(), 20)],
  ])('stays live if a proxy %s every stream soon after its events', async (_, close) => {
    onWatch = (response) => {
      openWith(eviction('dbx_1', 9_000_000_000_000))(response)
      close(response)
    }
    const watch = watchWith({ paceMs: 20 })
    expect(await eventsUntil(watch, () => connections.length > 10)).toEqual([
      { evictions: [eviction('dbx_1', 9_000_000_000_000)], state: 'live' },
    ])
  })

  it('backs off when streams end without any event', async () => {
    onWatch = (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end()
    const long = 3_600_000
    const stream = follow(watchWith({ firstMs: long, maxMs: long }))
    expect((await stream.until('snapshot')).upstream).toMatchObject({ state: 'retrying' })
    expect(connections).toHaveLength(1)
  })

  it('is refused when the key is revoked during a working stream', async () => {
    onWatch = (response) => {
      openWith(eviction('dbx_1'))(response)
      response.end('event: error\ndata: {"code":"401","message":"revoked"}\n\n')
    }
    const stream = follow(watchWith({ refused: { firstMs: 3_600_000, maxMs: 3_600_000 } }))
    for (let { state } = (await stream.until('snapshot')).upstream; state !== 'refused'; )
      ({ state } = await stream.until('upstream'))
    expect(connections).toHaveLength(1)
  })

  it('keeps evictions that a listener already knew until the service stops repeating them', async () => {
    const [one, two] = [eviction('dbx_1'), eviction('dbx_2')]
    const watch = watchWith({ settleMs: 20, refreshMs: 200 })
    onWatch = openWith(two)
    const events: EvictionEvent[] = []
    const listener = {
      start: () => undefined,
      onEvent: (event: EvictionEvent) => events.push(event),
      end: () => undefined,
    }
    watch.join(listener, [one, two])
    expect(watch.snapshot().evictions).toEqual([one, two])
    await expect.poll(() => events).toContainEqual({ event: 'removed', data: { devbox_id: 'dbx_1' } })
    expect(watch.snapshot().evictions).toEqual([two])
  })

  it('marks evictions that only a replay reported', async () => {
    const watch = watchWith({ settleMs: 200 })
    const late: boolean[] = []
    watch.join({
      start: () => undefined,
      onEvent: ({ event }) => event === 'eviction' && late.push(watch.isReplaying),
      end: () => undefined,
    })
    await expect.poll(() => connections.length > 0 && !watch.isReplaying).toBe(true)
    send(connections[0], eviction('dbx_1'))
    await expect.poll(() => late).toEqual([false])
    onWatch = openWith(eviction('dbx_2'))
    watch.refresh()
    await expect.poll(() => late).toEqual([false, true])
  })

  it('removes an eviction some time after its deadline', async () => {
    const stream = follow(watchWith({ expiryCheckMs: 20 }))
    await stream.until('snapshot')
    send(connections[0], eviction('dbx_1'))
    await stream.until('eviction')
    inTheFuture(3_600_000 + watchTimes.passedMs)
    expect(await stream.until('removed')).toEqual({ devbox_id: 'dbx_1' })
  })

  it('survives malformed events', async () => {
    const stream = follow(watchWith())
    await stream.until('snapshot')
    connections[0]?.write(
      'data: {"devbox_id":7}\n\ndata: not json\n\nevent: other\r\nid: 9\r\ndata: {}\r\n\r\ndata: \n\n',
    )
    connections[0]?.write(`data: ${'x'.repeat(10_000_000)}\n\n`)
    send(connections[0], { devbox_id: 'dbx\n\ndata: {"devbox_id":"forged"}', eviction_deadline_ms: inOneHour() })
    send(connections[0], eviction('dbx_1'))
    expect((await stream.until('eviction')).devbox_id).toBe('dbx\n\ndata: {"devbox_id":"forged"}')
    expect((await stream.until('eviction')).devbox_id).toBe('dbx_1')
    expect(connections).toHaveLength(1)
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
    ['no deadline', 'data: {"devbox_id":"dbx_1"}'],
    ['an oversized id', `data: {"devbox_id":"${'d'.repeat(5000)}","eviction_deadline_ms":9000000000000}`],
  ])('counts an unreadable event: %s', async (_, event) => {
    const logged = vi.spyOn(console, 'error').mockReturnValue(undefined)
    const watch = watchWith()
    const stream = follow(watch)
    await stream.until('snapshot')
    connections[0]?.write(`${event}\n\n`)
    send(connections[0], eviction('dbx_2'))
    expect((await stream.until('eviction')).devbox_id).toBe('dbx_2')
    expect(watch.unreadable).toEqual({ count: 1, reason: expect.any(String) })
    expect(logged).toHaveBeenCalledOnce()
  })

  it('accepts a service that keeps repeating a past eviction', async () => {
    const watch = watchWith({ expiryCheckMs: 20, passedMs: 0, refreshMs: 50 })
    onWatch = openWith(eviction('dbx_1', Date.now() + 200))
    const stream = follow(watch)
    await stream.until('removed')
    const before = connections.length
    await expect.poll(() => connections.length).toBeGreaterThan(before + 2)
    expect(watch.unreadable.count).toBe(0)
  })

  const refused = { firstMs: 1, maxMs: 20 }
  it.each([400, 401, 403, 404, 409, 410, 422, 429, 500, 501, 503])('keeps retrying after a %i', async (status) => {
    onWatch = (response) =>
      connections.length < 9 ? response.writeHead(status, { 'retry-after': '0' }).end() : openWith()(response)
    const stream = follow(watchWith({ refused }))
    for (let state = ''; state !== 'live'; ) ({ state } = await stream.until('upstream'))
    stream.leave()
  })

  it.each([401, 403, 404, 500])('retries after a %i as soon as another call with the key succeeds', async (status) => {
    onWatch = (response) => response.writeHead(status).end()
    const long = 3_600_000
    const watch = watchWith({ maxMs: long, firstMs: long, maxWakeMs: 1, refused: { firstMs: long, maxMs: long } })
    const stream = follow(watch)
    const { upstream } = await stream.until('snapshot')
    expect(upstream).toMatchObject({ state: status === 500 ? 'retrying' : 'refused', attempt: 1 })
    onWatch = openWith()
    onKeyAccepted('ak_other')
    onKeyAccepted('ak_scripted')
    expect(await stream.until('upstream')).toMatchObject({ state: 'live' })
    expect(connections).toHaveLength(2)
  })

  it('honors Retry-After', async () => {
    const times: number[] = []
    onWatch = (response) => {
      times.push(Date.now())
      if (times.length === 1) response.writeHead(429, { 'retry-after': '1' }).end()
      else openWith()(response)
    }
    const stream = follow(watchWith())
    expect((await stream.until('snapshot')).upstream).toMatchObject({ state: 'retrying', attempt: 1 })
    expect(await stream.until('upstream')).toMatchObject({ state: 'live' })
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1000)
  })

  it('reconnects to a service that has gone silent, and reports nothing while that succeeds', async () => {
    const stream = follow(watchWith({ silenceMs: 500 }))
    await stream.until('snapshot')
    onWatch = openWith(eviction('dbx_1'))
    await stream.until('eviction')
    expect(stream.events.map(({ event }) => event)).toEqual(['snapshot', 'eviction'])
    expect(connections.length).toBeGreaterThan(1)
  })
})

describe('the backoff', () => {
  it('spreads the return of many consoles over seconds', () => {
    let seed = 7
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return seed / 2 ** 31
    }
    const downMs = 120_000
    const returnMs = Array.from({ length: 500 }, () => {
      let atMs = 0
      for (let attempt = 0; atMs < downMs; attempt++) atMs += backoffMs(attempt, watchTimes, random)
      return atMs - downMs
    })
    const bySecond = Map.groupBy(returnMs, (ms) => Math.floor(ms / 1000))
    expect(Math.max(...returnMs) - Math.min(...returnMs)).toBeGreaterThanOrEqual(5_000)
    expect(Math.max(...[...bySecond.values()].map((some) => some.length))).toBeLessThanOrEqual(125)
  })

  it('grows with jitter, from at most two seconds to thirty attempts in ten minutes', () => {
    expect(backoffMs(0, watchTimes, () => 1)).toBeLessThanOrEqual(2_000)
    const waits: number[] = []
    for (let ms = 0; ms < 600_000; ms += waits.at(-1) ?? 0) waits.push(backoffMs(waits.length, watchTimes, () => 0.5))
    expect(waits.length).toBeLessThanOrEqual(30)
    expect(waits.slice(0, 5).every((wait, i) => wait < (waits[i + 1] ?? 0))).toBe(true)
    expect(new Set(waits.map((_, attempt) => backoffMs(80 + attempt, watchTimes))).size).toBe(waits.length)
  })

  it('never exceeds a minute, whatever the service responds', () => {
    const { refused, maxMs, maxRetryAfterMs } = watchTimes
    const waits = [refused, { firstMs: maxMs, maxMs }].map((times) => backoffMs(20, times, () => 1))
    expect(Math.max(...waits, maxRetryAfterMs)).toBeLessThan(60_000)
  })
})
