import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { backoffMs } from '#lib/client/backoff.ts'
import { parseEvents } from '#lib/client/events.ts'
import { type Eviction, pendingCountHeader } from '#lib/contract/evictions.ts'
import type { RelayData, RelayEvent } from '#lib/protocol/evictions.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { EvictionStreamWatch, relayTimes } from './eviction-watch.ts'
import { openEventStream } from './relay.ts'

/** The events of a relay stream, one by one. */
const reading = (body: ReadableStream<Uint8Array>) => {
  const events = parseEvents(body)
  const next = async (): Promise<RelayEvent | undefined> => {
    const { value } = await events.next()
    return value && ({ event: value.event, data: JSON.parse(value.data) } as RelayEvent)
  }
  return {
    next,
    /** The next event of this name; others on the way are skipped. */
    until: async <Name extends keyof RelayData>(name: Name): Promise<RelayData[Name]> => {
      for (let event = await next(); event; event = await next())
        if (event.event === name) return event.data as RelayData[Name]
      throw new Error(`The stream ended before an event ${name}`)
    },
    close: () => events.return(undefined),
  }
}

const inOneHour = () => Date.now() + 3_600_000

describe('with the local service', () => {
  let service: TestService
  let gateway: TestConsole
  let cookie: string
  let devboxId: string
  beforeAll(async () => {
    service = await startService()
    gateway = await startConsole({ url: service.url })
    cookie = await gateway.signIn(service.key)
    const devbox = await service.client.devboxes.createAndAwaitRunning({ body: { name: 'watched' } })
    devboxId = devbox.id
  })
  afterAll(async () => {
    await gateway.close()
    await service.close()
  })
  const watch = async () => {
    const response = await gateway.fetch('/api/evictions', { cookie })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform')
    return reading(response.body!)
  }

  it('tells what is pending, then each new deadline, to every browser at once', async () => {
    const deadline = inOneHour()
    await service.client.evictions.schedule({ body: { devbox_id: devboxId, eviction_deadline_ms: deadline } })
    const askedAtMs = Date.now()
    const first = await watch()
    const snapshot = await first.until('snapshot')
    expect(snapshot).toMatchObject({
      evictions: [{ devbox_id: devboxId, eviction_deadline_ms: deadline }],
      upstream: { state: 'live', attempt: 0 },
    })
    const { now_ms } = await first.until('heartbeat')
    expect(now_ms).toBeGreaterThanOrEqual(askedAtMs)
    expect(now_ms).toBeLessThanOrEqual(Date.now())

    const second = await watch()
    expect((await second.until('snapshot')).evictions).toHaveLength(1)
    await service.client.evictions.schedule({ body: { devbox_id: devboxId, eviction_deadline_ms: deadline - 60_000 } })
    for (const each of [first, second])
      expect(await each.until('eviction')).toEqual({ devbox_id: devboxId, eviction_deadline_ms: deadline - 60_000 })
    await Promise.all([first.close(), second.close()])
  })

  it('comes back by itself when the service does, with nothing lost and nothing told twice', async () => {
    const { id: other } = await service.client.devboxes.createAndAwaitRunning({ body: { name: 'also watched' } })
    const stream = await watch()
    const { evictions } = await stream.until('snapshot')
    await service.restart()
    await service.client.devboxes.waitForStatus({
      params: { id: other },
      body: { statuses: ['running'] },
    })
    const eviction = { devbox_id: other, eviction_deadline_ms: inOneHour() + 60_000 }
    await service.client.evictions.schedule({ body: eviction })
    expect(await stream.until('eviction')).toEqual(eviction)
    const late = await watch()
    expect((await late.until('snapshot')).evictions).toEqual([...evictions, eviction])
    await Promise.all([stream.close(), late.close()])
  })

  it('tells at once that suspending a devbox took its eviction back', async () => {
    const { id } = await service.client.devboxes.createAndAwaitRunning({ body: { name: 'spared' } })
    const stream = await watch()
    await stream.until('snapshot')
    await service.client.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: inOneHour() } })
    expect(await stream.until('eviction')).toMatchObject({ devbox_id: id })
    const headers = { origin: gateway.url, 'content-type': 'application/json' }
    const { status } = await gateway.fetch(`/api/v1/devboxes/${id}/suspend`, { method: 'POST', cookie, headers })
    expect(status).toBe(200)
    expect(await stream.until('removed')).toEqual({ devbox_id: id })
    await stream.close()
  })

  it('is refused without a session, and to pages of other sites', async () => {
    expect((await gateway.fetch('/api/evictions')).status).toBe(401)
    for (const site of ['cross-site', 'same-site', 'none'])
      expect(
        (await gateway.fetch('/api/evictions', { cookie, headers: { 'sec-fetch-site': site } })).status,
        site,
      ).toBe(403)
    expect(
      (await fetch(`${gateway.url}/api/evictions`, { headers: { cookie, origin: 'https://evil.example' } })).status,
    ).toBe(403)
  })

  it('ends at sign-out, for that session alone', async () => {
    const own = await gateway.signIn(service.key)
    const leaving = reading((await gateway.fetch('/api/evictions', { cookie: own })).body!)
    const staying = await watch()
    await Promise.all([leaving.until('snapshot'), staying.until('snapshot')])
    await gateway.fetch('/api/session', { method: 'DELETE', cookie: own })
    await expect(leaving.until('removed')).rejects.toThrow('ended')
    await service.client.evictions.schedule({ body: { devbox_id: devboxId, eviction_deadline_ms: inOneHour() } })
    expect((await staying.until('eviction')).devbox_id).toBe(devboxId)
    await staying.close()
  })
})

describe('with a scripted service', () => {
  let recorder: Server
  let gateway: TestConsole
  let connections: ServerResponse[]
  let onWatch: (response: ServerResponse, request: IncomingMessage) => void
  const hubs: EvictionStreamWatch[] = []

  const say = (response: ServerResponse | undefined, ...evictions: Eviction[]) => {
    for (const eviction of evictions) response?.write(`data: ${JSON.stringify(eviction)}\n\n`)
  }
  const openWith =
    (...evictions: Eviction[]) =>
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
      say(response, ...evictions)
    }
  const hubWith = (times: Partial<typeof relayTimes> = {}) => {
    const hub = new EvictionStreamWatch({ account: { id: 'scripted', name: '' }, api_key: 'ak_scripted' }, undefined, {
      ...relayTimes,
      firstMs: 1,
      maxMs: 20,
      ...times,
    })
    hubs.push(hub)
    return hub
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
    for (const hub of hubs.splice(0)) hub.close()
    vi.restoreAllMocks()
  })
  afterAll(async () => {
    await gateway.close()
    recorder.close()
    recorder.closeAllConnections()
  })

  it('opens one watch for any number of browsers, and closes it once all have left', async () => {
    const hub = hubWith({ lingerMs: 0 })
    const streams = Array.from({ length: 50 }, () => reading(openEventStream(hub).readable))
    await Promise.all(streams.map((stream) => stream.until('snapshot')))
    expect(connections).toHaveLength(1)
    say(connections[0], eviction('dbx_1'))
    for (const stream of streams) expect((await stream.until('eviction')).devbox_id).toBe('dbx_1')
    const closed = once(connections[0]!, 'close')
    await Promise.all(streams.map((stream) => stream.close()))
    await closed
  })

  it('keeps one hub per key in the registry', async () => {
    const cookies = await Promise.all(['ak_a', 'ak_a', 'ak_b'].map((key) => gateway.signIn(key)))
    const responses = await Promise.all(cookies.map((cookie) => gateway.fetch('/api/evictions', { cookie })))
    await Promise.all(responses.map((response) => reading(response.body!).until('snapshot')))
    expect(gateway.registry.evictionHubs.size).toBe(2)
    expect(connections).toHaveLength(2)
    for (const hub of [...gateway.registry.evictionHubs.values()]) hub.close()
    expect(gateway.registry.evictionHubs.size).toBe(0)
  })

  it('takes the latest deadline received, and tells a repeated one once', async () => {
    const [late, early] = [inOneHour(), inOneHour() - 600_000]
    const stream = reading(openEventStream(hubWith()).readable)
    await stream.until('snapshot')
    say(
      connections[0],
      eviction('dbx_1', late),
      eviction('dbx_1', late),
      eviction('dbx_1', early),
      eviction('dbx_2', late),
    )
    const told = [await stream.until('eviction'), await stream.until('eviction'), await stream.until('eviction')]
    expect(told).toEqual([eviction('dbx_1', late), eviction('dbx_1', early), eviction('dbx_2', late)])
  })

  it('waits only briefly for an embedded service, however often it was not there yet', async () => {
    const alone = await startConsole({ url: gateway.registry.service.url(), ownKey: 'ak_own' })
    onWatch = (response) => (connections.length < 8 ? response.destroy() : openWith()(response))
    const times = { firstMs: 60_000, maxMs: 60_000, maxEmbeddedMs: 10 }
    const stream = reading(openEventStream(hubWith(times)).readable)
    for (let state = ''; state !== 'live'; ) ({ state } = await stream.until('upstream'))
    expect(connections).toHaveLength(8)
    await stream.close()
    await alone.close()
  })

  it('removes what a new connection no longer repeats, and nothing else', async () => {
    const [one, two] = [eviction('dbx_1'), eviction('dbx_2')]
    onWatch = openWith(one, two)
    const stream = reading(openEventStream(hubWith({ withdrawnMs: 500, paceMs: 1 })).readable)
    expect((await stream.until('snapshot')).evictions).toEqual([one, two])
    onWatch = openWith(two)
    connections[0]?.end()
    expect(await stream.until('removed')).toEqual({ devbox_id: 'dbx_1' })
  })

  it('removes the last one at once where the service says that nothing is pending', async () => {
    onWatch = openWith(eviction('dbx_1'))
    const stream = reading(openEventStream(hubWith({ withdrawnMs: 3_600_000, paceMs: 1 })).readable)
    await stream.until('snapshot')
    onWatch = (response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream', [pendingCountHeader]: '0' }).flushHeaders()
    connections[0]?.end()
    expect(await stream.until('removed')).toEqual({ devbox_id: 'dbx_1' })
  })

  /** What a listener of a hub is sent from its start on, but for heartbeats, until `isOver`. */
  const toldUntil = async (hub: EvictionStreamWatch, isOver: () => boolean) => {
    let told: unknown[] | undefined
    hub.join({
      start: ({ evictions, upstream }) => {
        told = [{ evictions, state: upstream.state }]
      },
      tell: (event) => event.event !== 'heartbeat' && told?.push(event),
      end: () => undefined,
    })
    await expect.poll(() => told && isOver()).toBe(true)
    return told
  }

  it('reconnects without a word, however late and in whatever order the service repeats what is pending', async () => {
    const all = ['dbx_1', 'dbx_2', 'dbx_3'].map((id) => eviction(id))
    let rounds = 0
    onWatch = (response) => {
      openWith()(response)
      const repeated = rounds++ % 2 === 0 ? all : all.toReversed()
      // Later than a service is given that has shown nothing yet.
      setTimeout(() => say(response, ...repeated), rounds === 1 ? 0 : 60)
    }
    const hub = hubWith({ refreshMs: 200, settleMs: 20 })
    expect(await toldUntil(hub, () => rounds > 5)).toEqual([{ evictions: all, state: 'live' }])
  })

  it('keeps what is pending where a service that was fast becomes slow to repeat it', async () => {
    const all = ['dbx_1', 'dbx_2'].map((id) => eviction(id))
    let rounds = 0
    onWatch = (response) => {
      openWith()(response)
      setTimeout(() => say(response, ...all), rounds++ < 2 ? 0 : 60)
    }
    const hub = hubWith({ refreshMs: 300, settleMs: 5 })
    expect(await toldUntil(hub, () => rounds > 5)).toEqual([{ evictions: all, state: 'live' }])
  })

  it('removes what is no longer repeated where a proxy ends every stream early', async () => {
    const [one, two] = [eviction('dbx_1'), eviction('dbx_2')]
    onWatch = (response) => {
      openWith(...(connections.length > 3 ? [two] : [one, two]))(response)
      setTimeout(() => response.end(), 100)
    }
    const stream = reading(openEventStream(hubWith({ settleMs: 20, withdrawnMs: 3_600_000, paceMs: 1 })).readable)
    expect(await stream.until('removed')).toEqual({ devbox_id: 'dbx_1' })
  })

  it('keeps what is pending where the service never repeats it', async () => {
    const hub = hubWith({ refreshMs: 30, settleMs: 1 })
    onWatch = (response) => openWith(...(connections.length === 1 ? [pending] : []))(response)
    const pending = eviction('dbx_1')
    expect(await toldUntil(hub, () => connections.length > 5)).toEqual([{ evictions: [pending], state: 'live' }])
    expect(hub.deadlineOf('dbx_1')).toBe(pending.eviction_deadline_ms)
  })

  it('removes what a slow service has stopped repeating', async () => {
    const [one, two] = [eviction('dbx_1'), eviction('dbx_2')]
    onWatch = (response) => {
      openWith()(response)
      setTimeout(() => say(response, ...(connections.length > 3 ? [two] : [one, two])), 30)
    }
    const stream = reading(openEventStream(hubWith({ refreshMs: 300, settleMs: 1 })).readable)
    expect(await stream.until('removed')).toEqual({ devbox_id: 'dbx_1' })
  })

  it.each([
    ['ends', (response: ServerResponse) => response.end()],
    ['cuts', (response: ServerResponse) => setTimeout(() => response.destroy(), 20)],
  ])('is live all the time where a proxy %s every stream soon after its events', async (_, close) => {
    onWatch = (response) => {
      openWith(eviction('dbx_1', 9_000_000_000_000))(response)
      close(response)
    }
    const hub = hubWith({ paceMs: 20 })
    expect(await toldUntil(hub, () => connections.length > 10)).toEqual([
      { evictions: [eviction('dbx_1', 9_000_000_000_000)], state: 'live' },
    ])
  })

  it('backs off where streams end before they have told anything', async () => {
    onWatch = (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end()
    const long = 3_600_000
    const stream = reading(openEventStream(hubWith({ firstMs: long, maxMs: long })).readable)
    expect((await stream.until('snapshot')).upstream).toMatchObject({ state: 'retrying' })
    expect(connections).toHaveLength(1)
  })

  it('is refused where the service ends a stream that worked because the key was revoked', async () => {
    onWatch = (response) => {
      openWith(eviction('dbx_1'))(response)
      response.end('event: error\ndata: {"code":"401","message":"revoked"}\n\n')
    }
    const stream = reading(openEventStream(hubWith({ refused: { firstMs: 3_600_000, maxMs: 3_600_000 } })).readable)
    for (let { state } = (await stream.until('snapshot')).upstream; state !== 'refused'; )
      ({ state } = await stream.until('upstream'))
    expect(connections).toHaveLength(1)
  })

  it('counts what listeners knew before as pending until the service no longer repeats it', async () => {
    const [one, two] = [eviction('dbx_1'), eviction('dbx_2')]
    const hub = hubWith({ settleMs: 20, refreshMs: 200 })
    onWatch = openWith(two)
    const told: RelayEvent[] = []
    const listener = { start: () => undefined, tell: (event: RelayEvent) => told.push(event), end: () => undefined }
    hub.join(listener, [one, two])
    expect(hub.everything().evictions).toEqual([one, two])
    await expect.poll(() => told).toContainEqual({ event: 'removed', data: { devbox_id: 'dbx_1' } })
    expect(hub.everything().evictions).toEqual([two])
  })

  it('says which evictions only a repetition reported', async () => {
    const hub = hubWith({ settleMs: 200 })
    const late: boolean[] = []
    hub.join({
      start: () => undefined,
      tell: ({ event }) => event === 'eviction' && late.push(hub.isReplaying),
      end: () => undefined,
    })
    await expect.poll(() => hub.isReplaying).toBe(false)
    say(connections[0], eviction('dbx_1'))
    await expect.poll(() => late).toEqual([false])
    onWatch = openWith(eviction('dbx_2'))
    hub.refresh()
    await expect.poll(() => late).toEqual([false, true])
  })

  it('forgets an eviction a while after its deadline', async () => {
    const stream = reading(openEventStream(hubWith({ heartbeatMs: 20 })).readable)
    await stream.until('snapshot')
    say(connections[0], eviction('dbx_1'))
    await stream.until('eviction')
    inTheFuture(3_600_000 + relayTimes.passedMs)
    expect(await stream.until('removed')).toEqual({ devbox_id: 'dbx_1' })
  })

  it('survives events that are none', async () => {
    const stream = reading(openEventStream(hubWith()).readable)
    await stream.until('snapshot')
    connections[0]?.write(
      'data: {"devbox_id":7}\n\ndata: not json\n\nevent: other\r\nid: 9\r\ndata: {}\r\n\r\ndata: \n\n',
    )
    connections[0]?.write(`data: ${'x'.repeat(10_000_000)}\n\n`)
    say(connections[0], { devbox_id: 'dbx\n\ndata: {"devbox_id":"forged"}', eviction_deadline_ms: inOneHour() })
    say(connections[0], eviction('dbx_1'))
    expect((await stream.until('eviction')).devbox_id).toBe('dbx\n\ndata: {"devbox_id":"forged"}')
    expect((await stream.until('eviction')).devbox_id).toBe('dbx_1')
    expect(connections).toHaveLength(1)
  })

  const sentMs = Date.now()
  it.each([
    ['no JSON', 'data: soon'],
    ['longer than can be read', `data: "${'x'.repeat(5_000_000)}"`],
    ['about nothing', 'data: {"devbox_id":""}'],
    ['a deadline in words', `data: {"devbox_id":"dbx_1","eviction_deadline_ms":"${new Date().toISOString()}"}`],
    ['a deadline in seconds', `data: {"devbox_id":"dbx_1","eviction_deadline_ms":${Math.ceil(sentMs / 1000) + 600}}`],
    ['a deadline in microseconds', `data: {"devbox_id":"dbx_1","eviction_deadline_ms":${sentMs * 1000}}`],
    ['a deadline of yesterday', `data: {"devbox_id":"dbx_1","eviction_deadline_ms":${sentMs - 86_400_000}}`],
    ['no deadline', 'data: {"devbox_id":"dbx_1"}'],
    ['an id as long as a page', `data: {"devbox_id":"${'d'.repeat(5000)}","eviction_deadline_ms":9000000000000}`],
  ])('counts an event that is not understood: %s', async (_, event) => {
    const said = vi.spyOn(console, 'error').mockReturnValue(undefined)
    const hub = hubWith()
    const stream = reading(openEventStream(hub).readable)
    await stream.until('snapshot')
    connections[0]?.write(`${event}\n\n`)
    say(connections[0], eviction('dbx_2'))
    expect((await stream.until('eviction')).devbox_id).toBe('dbx_2')
    expect(hub.unreadable).toEqual({ count: 1, reason: expect.any(String) })
    expect(said).toHaveBeenCalledOnce()
  })

  it('understands a service that goes on repeating an eviction that is over', async () => {
    const hub = hubWith({ heartbeatMs: 20, passedMs: 0, refreshMs: 50 })
    onWatch = openWith(eviction('dbx_1', Date.now() + 200))
    const stream = reading(openEventStream(hub).readable)
    await stream.until('removed')
    const before = connections.length
    await expect.poll(() => connections.length).toBeGreaterThan(before + 2)
    expect(hub.unreadable.count).toBe(0)
  })

  const refused = { firstMs: 1, maxMs: 20 }
  it.each([400, 401, 403, 404, 409, 410, 422, 429, 500, 501, 503])(
    'retries after a %i, with no end',
    async (status) => {
      onWatch = (response) =>
        connections.length < 9 ? response.writeHead(status, { 'retry-after': '0' }).end() : openWith()(response)
      const stream = reading(openEventStream(hubWith({ refused })).readable)
      for (let state = ''; state !== 'live'; ) ({ state } = await stream.until('upstream'))
      await stream.close()
    },
  )

  it.each([401, 403, 404, 500])('retries after a %i as soon as another call with the key succeeds', async (status) => {
    onWatch = (response) => response.writeHead(status).end()
    const long = 3_600_000
    const hub = hubWith({ maxMs: long, firstMs: long, maxWakeMs: 1, refused: { firstMs: long, maxMs: long } })
    const stream = reading(openEventStream(hub).readable)
    const { upstream } = await stream.until('snapshot')
    expect(upstream).toMatchObject({ state: status === 500 ? 'retrying' : 'refused', attempt: 1 })
    onWatch = openWith()
    hub.onKeyAccepted('ak_other')
    hub.onKeyAccepted('ak_scripted')
    expect(await stream.until('upstream')).toMatchObject({ state: 'live' })
    expect(connections).toHaveLength(2)
  })

  it('is retried within a minute, whatever the service answers', () => {
    const { refused, maxMs, maxRetryAfterMs } = relayTimes
    const waits = [refused, { firstMs: maxMs, maxMs }].map((times) => backoffMs(20, times, () => 1))
    expect(Math.max(...waits, maxRetryAfterMs)).toBeLessThan(60_000)
  })

  it('waits as long as the service asks', async () => {
    const times: number[] = []
    onWatch = (response) => {
      times.push(Date.now())
      if (times.length === 1) response.writeHead(429, { 'retry-after': '1' }).end()
      else openWith()(response)
    }
    const stream = reading(openEventStream(hubWith()).readable)
    expect((await stream.until('snapshot')).upstream).toMatchObject({ state: 'retrying', attempt: 1 })
    expect(await stream.until('upstream')).toMatchObject({ state: 'live' })
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1000)
  })

  it('connects anew to a service that has fallen silent, without a word as long as it succeeds', async () => {
    const stream = reading(openEventStream(hubWith({ silenceMs: 500 })).readable)
    await stream.until('snapshot')
    onWatch = openWith(eviction('dbx_1'))
    let told = await stream.next()
    while (told?.event === 'heartbeat') told = await stream.next()
    expect(told).toMatchObject({ event: 'eviction', data: { devbox_id: 'dbx_1' } })
    expect(connections.length).toBeGreaterThan(1)
  })

  it('keeps nothing for a browser that does not read, and starts it anew once it does', async () => {
    const hub = hubWith()
    const slow = openEventStream(hub).readable.getReader()
    const quick = reading(openEventStream(hub).readable)
    await quick.until('snapshot')
    const deadline = inOneHour()
    const count = 8000
    for (let i = 0; i < count; i++) say(connections[0], eviction(`dbx_${i % 3}`, deadline + i))
    for (let told = await quick.until('eviction'); told.eviction_deadline_ms !== deadline + count - 1; )
      told = await quick.until('eviction')

    let bytes = 0
    let text = ''
    const isComplete = () =>
      text.split('event: snapshot').length === 3 && text.includes(`"eviction_deadline_ms":${deadline + count - 1}`)
    while (!isComplete()) {
      const { value } = await slow.read()
      bytes += value?.byteLength ?? 0
      text += Buffer.from(value ?? [])
    }
    expect(bytes).toBeLessThan(300 * 1024)
    await slow.cancel()
  })
})

it('waits so that many consoles come back spread over seconds', () => {
  let seed = 7
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed / 2 ** 31
  }
  const downMs = 120_000
  const comesMs = Array.from({ length: 500 }, () => {
    let atMs = 0
    for (let attempt = 0; atMs < downMs; attempt++) atMs += backoffMs(attempt, relayTimes, random)
    return atMs - downMs
  })
  const bySecond = Map.groupBy(comesMs, (ms) => Math.floor(ms / 1000))
  expect(Math.max(...comesMs) - Math.min(...comesMs)).toBeGreaterThanOrEqual(5_000)
  expect(Math.max(...[...bySecond.values()].map((some) => some.length))).toBeLessThanOrEqual(125)
})

it('waits at most two seconds after a first break, and never in step', () => {
  expect(backoffMs(0, relayTimes, () => 1)).toBeLessThanOrEqual(2_000)
  const waits = Array.from({ length: 20 }, (_, attempt) => backoffMs(80 + attempt, relayTimes))
  expect(waits.every((wait) => wait <= relayTimes.maxMs * 1.2)).toBe(true)
  expect(new Set(waits).size).toBe(20)
})

it('asks a service that is away ever more seldom, never in step, and thirty times in ten minutes', () => {
  const waits: number[] = []
  for (let ms = 0; ms < 600_000; ms += waits.at(-1) ?? 0) waits.push(backoffMs(waits.length, relayTimes, () => 0.5))
  expect(waits.length).toBeLessThanOrEqual(30)
  expect(waits.slice(0, 5).every((wait, i) => wait < (waits[i + 1] ?? 0))).toBe(true)
  expect(new Set(waits.map((_, attempt) => backoffMs(attempt, relayTimes))).size).toBe(waits.length)
})
