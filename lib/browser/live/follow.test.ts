import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket as NodeWebSocket } from 'ws'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import type { LiveEndpoint, LiveItems, LiveTopic } from '#lib/protocol/live.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { TestNetwork } from '#lib/terminal/page/testing.ts'
import { LiveConnection, type LiveHealth } from './follow.ts'

let service: TestService
/** Between console and service, and between page and console: what can fail. */
let behind: TestNetwork
let before: TestNetwork
let gateway: TestConsole
let pageUrl: string
let devboxId: string
beforeAll(async () => {
  behind = new TestNetwork(() => service.url)
  const url = await behind.listen()
  service = await startService({ isolation: 'none', allowHosts: [new URL(url).host] })
  gateway = await startConsole({ url }, {}, { quietMs: 200, answerMs: 1_000 })
  before = new TestNetwork(() => gateway.url)
  pageUrl = `${(await before.listen()).replace('http', 'ws')}/api/live`
  devboxId = (await service.client.devboxes.createAndAwaitRunning({ body: {} })).id
})
afterAll(async () => {
  before.close()
  behind.close()
  await gateway.close()
  await service.close()
})

const leaving: AbortController[] = []
afterEach(() => {
  for (const each of leaving.splice(0)) each.abort()
  before.mend()
  behind.mend()
})

/** A page of somebody who is signed in. */
const openPage = async (key = service.key, times = {}) => {
  const cookie = await gateway.signIn(key)
  class PageSocket extends NodeWebSocket {
    constructor(url: string) {
      super(url, { headers: { cookie, host: new URL(gateway.url).host }, origin: gateway.origin })
      // A browser's socket tells of its failures by its close alone.
      this.on('error', () => undefined)
    }
  }
  const onSignedOut = vi.fn()
  const connection = new LiveConnection({
    url: () => pageUrl,
    ask: () => Promise.reject(new Error('There is nobody to ask')),
    isSignedOut: () =>
      gateway.fetch('/api/session', { cookie }).then(
        ({ status }) => status === 401,
        () => false,
      ),
    onSignedOut,
    WebSocket: PageSocket as unknown as typeof WebSocket,
    times: { lookMs: 50, firstMs: 20, maxMs: 200, lingerMs: 0, ...times },
  })
  const followed = <E extends LiveEndpoint>(topic: LiveTopic<E>, position?: string) => {
    const items: LiveItems[E][] = []
    const states: LiveHealth['state'][] = []
    const healths: LiveHealth[] = []
    const controller = new AbortController()
    leaving.push(controller)
    const ended = connection.follow(topic, {
      position,
      signal: controller.signal,
      onItems: (some) => items.push(...some),
      onHealth: (health) => {
        healths.push(health)
        if (health.state !== states.at(-1)) states.push(health.state)
      },
    })
    // Some tests do not wait for the end.
    ended.catch(() => undefined)
    // A state that has already been followed by another is found, too.
    let seen = 0
    const is = async (state: LiveHealth['state']) => {
      await expect.poll(() => states.slice(seen)).toContain(state)
      seen = states.indexOf(state, seen)
    }
    return { items, states, healths, ended, is, leave: () => controller.abort() }
  }
  return { connection, cookie, onSignedOut, followed }
}

const execute = async (command: string) => {
  const { execution_id } = await service.client.executions.executeAsync({ params: { id: devboxId }, body: { command } })
  const params = { devbox_id: devboxId, execution_id }
  return { params, topic: { endpoint: 'executions.streamStdout', params } as const }
}
const newAxon = async () => {
  const { id } = await service.client.axons.create({ body: {} })
  const topic = { endpoint: 'axons.subscribe', params: { id } } as const
  const publish = () =>
    service.client.axons.publish({
      params: { id },
      body: { event_type: 'note', origin: 'USER_EVENT', source: 'test', payload: '' },
    })
  return { topic, publish }
}

describe('what is followed', () => {
  it('is told to its end', async () => {
    const page = await openPage()
    const { topic } = await execute('echo one; echo two')
    const { items, states, ended } = page.followed(topic)
    await ended
    expect(items.map(({ output }) => output).join('')).toBe('one\ntwo\n')
    expect(states.at(-1)).toBe('live')
  })

  it('shares one connection, ten commands and more', async () => {
    const page = await openPage()
    const commands = await Promise.all(Array.from({ length: 10 }, (_, i) => execute(`echo ${i}; exec sleep 1000`)))
    const outputs = commands.map(({ topic }) => page.followed(topic))
    await expect.poll(() => outputs.map(({ items }) => items[0]?.output)).toEqual(commands.map((_, i) => `${i}\n`))
    await Promise.all(commands.map(({ params }) => service.client.executions.kill({ params, body: {} })))
    await Promise.all(outputs.map(({ ended }) => ended))
  })

  it('is refused when it is another account’s', async () => {
    const page = await openPage(service.otherKey)
    const { topic, publish } = await newAxon()
    await publish()
    const { items, ended } = page.followed(topic)
    await expect(ended).rejects.toMatchObject({ name: 'ApiError', code: 'not_found' })
    expect(items).toEqual([])
  })

  it('tells the evictions of the account, and what becomes of them', async () => {
    const page = await openPage()
    const { id } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    const { items, is } = page.followed({ endpoint: 'evictions.watch' })
    await is('live')
    await expect.poll(() => items).toHaveLength(1)
    const eviction = { devbox_id: id, eviction_deadline_ms: Date.now() + 3_600_000 }
    await service.client.evictions.schedule({ body: eviction })
    await expect.poll(() => items.at(-1)).toEqual({ event: 'eviction', data: eviction })
    // Reloading the page tells it in the first snapshot.
    const again = (await openPage()).followed({ endpoint: 'evictions.watch' })
    await expect.poll(() => again.items[0]).toMatchObject({ event: 'snapshot', data: { evictions: [eviction] } })
  })
})

describe('through breaks', () => {
  it('no output is lost or told twice, whatever breaks', async () => {
    const page = await openPage()
    const { topic } = await execute('for i in $(seq 1 400); do echo $i; sleep 0.005; done')
    const output = page.followed(topic)
    const { items, ended } = output
    for (const network of [before, behind, before, behind]) {
      const known = items.length
      await expect.poll(() => items.length).toBeGreaterThan(known)
      network.cut()
    }
    await ended
    const lines = items
      .map(({ output }) => output)
      .join('')
      .split('\n')
    expect(lines).toEqual([...Array.from({ length: 400 }, (_, i) => String(i + 1)), ''])
    expect(output.states).toContain('lost')
    expect(output.states.at(-1)).toBe('live')
  })

  it('no event and no record is lost or told twice', async () => {
    const page = await openPage()
    const { topic, publish } = await newAxon()
    const { params } = await execute('for i in $(seq 1 50); do echo $i; sleep 0.02; done')
    const events = page.followed(topic)
    const log = page.followed({ endpoint: 'logs.tail', params: { id: devboxId } })
    for (let i = 0; i < 60; i++) {
      await publish()
      if (i % 20 === 10) before.cut()
      if (i % 20 === 15) behind.cut()
    }
    await expect.poll(() => events.items).toHaveLength(60)
    expect(events.items.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1))
    const own = () => log.items.filter(({ cmd_id }) => cmd_id === params.execution_id)
    await expect.poll(() => own().at(-1)?.exit_code).toBe(0)
    expect(own().flatMap(({ message }) => message ?? [])).toEqual(Array.from({ length: 50 }, (_, i) => String(i + 1)))
  })

  it('goes on after a restart of the service', async () => {
    const page = await openPage()
    const { topic, publish } = await newAxon()
    const { items, is } = page.followed(topic)
    await is('live')
    await publish()
    await service.restart()
    await publish()
    await expect.poll(() => items.map(({ sequence }) => sequence)).toEqual([1, 2])
    await is('live')
  })
})

describe('how far it can be trusted', () => {
  it('is late when the service is frozen, and live when it is heard again', async () => {
    const page = await openPage()
    const { topic, publish } = await newAxon()
    const { items, is } = page.followed(topic)
    const evictions = page.followed({ endpoint: 'evictions.watch' })
    await Promise.all([is('live'), evictions.is('live')])
    behind.stall()
    await publish()
    await Promise.all([is('late'), evictions.is('late')])
    expect(items).toEqual([])
    // What a stalled network has swallowed is asked for again once the way is whole.
    behind.mend()
    behind.cut()
    await is('live')
    await expect.poll(() => items).toHaveLength(1)
  })

  it('is late when the console is frozen, lost when it stays so, and live again afterwards', async () => {
    // A heartbeat comes every three seconds.
    const page = await openPage(service.key, { lateMs: 4_000, lostMs: 6_000 })
    const { topic, publish } = await newAxon()
    const { items, states, healths, is } = page.followed(topic)
    await is('live')
    before.stall()
    await is('late')
    const { sinceMs } = healths.at(-1) as LiveHealth
    await is('lost')
    // As old as it was: nothing was heard meanwhile.
    expect(healths.at(-1)).toMatchObject({ state: 'lost', sinceMs })
    await publish()
    before.mend()
    await is('live')
    await expect.poll(() => items).toHaveLength(1)
    expect(states).toEqual(['connecting', 'live', 'late', 'lost', 'live'])
  })

  it('is late at once when a page is looked at that was frozen, as old as what it shows', async () => {
    // It looks after itself no more than a frozen page does.
    const page = await openPage(service.key, { lookMs: 2 ** 30, lateMs: 20 })
    const { healths, states, is } = page.followed({ endpoint: 'evictions.watch' })
    await is('live')
    const heardMs = Date.now()
    await expect.poll(() => Date.now() - heardMs).toBeGreaterThan(20)
    page.connection.check()
    await is('late')
    expect(healths.find(({ state }) => state === 'late')?.sinceMs).toBeLessThanOrEqual(heardMs)
    await is('live')
    expect(states).toEqual(['connecting', 'live', 'late', 'live'])
  })

  it('is asked for at once when the page is looked at again', async () => {
    const page = await openPage()
    const { is } = page.followed((await newAxon()).topic)
    await is('live')
    before.break()
    await is('lost')
    before.mend()
    page.connection.check()
    await is('live')
  })
})

describe('a session that ends', () => {
  it('ends the connection, and the page is told', async () => {
    const page = await openPage()
    await page.followed((await newAxon()).topic).is('live')
    await gateway.fetch('/api/session', { method: 'DELETE', cookie: page.cookie })
    await expect.poll(() => page.onSignedOut).toHaveBeenCalled()
  })

  it('is told to a page that comes back afterwards', async () => {
    const page = await openPage()
    const { is } = page.followed((await newAxon()).topic)
    await is('live')
    before.break()
    await is('lost')
    await gateway.fetch('/api/session', { method: 'DELETE', cookie: page.cookie })
    before.mend()
    await expect.poll(() => page.onSignedOut).toHaveBeenCalled()
  })
})

it('is let go by a page that follows nothing any more, and taken up again', async () => {
  const page = await openPage()
  const { topic } = await newAxon()
  const first = page.followed(topic)
  await first.is('live')
  expect(gateway.registry.openStreams.size).toBeGreaterThan(0)
  first.leave()
  await first.ended
  const second = page.followed(topic)
  await second.is('live')
})
