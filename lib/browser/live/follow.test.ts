import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket as NodeWebSocket } from 'ws'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import type { LiveEndpoint, LiveItems, LiveTopic } from '#lib/protocol/live.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { TestNetwork } from '#lib/terminal/page/testing.ts'
import { LiveConnection, type LiveHealth } from './follow.ts'

let service: TestService
/** Networks that can fail: console to service, and page to console. */
let serviceNetwork: TestNetwork
let pageNetwork: TestNetwork
let gateway: TestConsole
let pageUrl: string
let devboxId: string
beforeAll(async () => {
  serviceNetwork = new TestNetwork(() => service.url)
  const url = await serviceNetwork.listen()
  service = await startService({ isolation: 'none', allowHosts: [new URL(url).host] })
  gateway = await startConsole({ url }, {}, { quietMs: 200, answerMs: 1_000 })
  pageNetwork = new TestNetwork(() => gateway.url)
  pageUrl = `${(await pageNetwork.listen()).replace('http', 'ws')}/api/live`
  devboxId = (await service.client.devboxes.createAndAwaitRunning({ body: {} })).id
})
afterAll(async () => {
  pageNetwork.close()
  serviceNetwork.close()
  await gateway.close()
  await service.close()
})

const leaving: AbortController[] = []
afterEach(() => {
  for (const each of leaving.splice(0)) each.abort()
  pageNetwork.mend()
  serviceNetwork.mend()
})

const openPage = async (key = service.key, times = {}) => {
  const cookie = await gateway.signIn(key)
  class PageSocket extends NodeWebSocket {
    constructor(url: string) {
      super(url, { headers: { cookie, host: new URL(gateway.url).host }, origin: gateway.origin })
      // A browser reports failures through close only.
      this.on('error', () => undefined)
    }
  }
  const onSignedOut = vi.fn()
  const connection = new LiveConnection({
    url: () => pageUrl,
    poll: () => Promise.reject(new Error('Polling is not available')),
    isSignedOut: () =>
      gateway.fetch('/api/session', { cookie }).then(
        ({ status }) => status === 401,
        () => false,
      ),
    onSignedOut,
    WebSocket: PageSocket as unknown as typeof WebSocket,
    times: { checkMs: 50, firstMs: 20, maxMs: 200, lingerMs: 0, ...times },
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
    // Also finds a state that has already passed.
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

describe('following', () => {
  it('delivers output to the end', async () => {
    const page = await openPage()
    const { topic } = await execute('echo one; echo two')
    const { items, states, ended } = page.followed(topic)
    await ended
    expect(items.map(({ output }) => output).join('')).toBe('one\ntwo\n')
    expect(states.at(-1)).toBe('live')
  })

  it('refuses a topic of another account', async () => {
    const page = await openPage(service.otherKey)
    const { topic, publish } = await newAxon()
    await publish()
    const { items, ended } = page.followed(topic)
    await expect(ended).rejects.toMatchObject({ name: 'ApiError', code: 'not_found' })
    expect(items).toEqual([])
  })
})

describe('broken connections', () => {
  it('lose and repeat no output', async () => {
    const page = await openPage()
    const { topic } = await execute('for i in $(seq 1 400); do echo $i; sleep 0.005; done')
    const output = page.followed(topic)
    const { items, ended } = output
    for (const network of [pageNetwork, serviceNetwork, pageNetwork, serviceNetwork]) {
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

  it('lose and repeat no event or log record', async () => {
    const page = await openPage()
    const { topic, publish } = await newAxon()
    const { params } = await execute('for i in $(seq 1 50); do echo $i; sleep 0.02; done')
    const events = page.followed(topic)
    const log = page.followed({ endpoint: 'logs.tail', params: { id: devboxId } })
    for (let i = 0; i < 60; i++) {
      await publish()
      if (i % 20 === 10) pageNetwork.cut()
      if (i % 20 === 15) serviceNetwork.cut()
    }
    await expect.poll(() => events.items).toHaveLength(60)
    expect(events.items.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1))
    const own = () => log.items.filter(({ cmd_id }) => cmd_id === params.execution_id)
    await expect.poll(() => own().at(-1)?.exit_code).toBe(0)
    expect(own().flatMap(({ message }) => message ?? [])).toEqual(Array.from({ length: 50 }, (_, i) => String(i + 1)))
  })

  it('recover from a restart of the service', async () => {
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

describe('health', () => {
  it('is late while the service is frozen', async () => {
    const page = await openPage()
    const { topic, publish } = await newAxon()
    const { items, is } = page.followed(topic)
    const alerts = page.followed({ endpoint: 'alerts.watch' })
    await Promise.all([is('live'), alerts.is('live')])
    serviceNetwork.stall()
    await publish()
    await Promise.all([is('late'), alerts.is('late')])
    expect(items).toEqual([])
    // Data swallowed by the stalled network is requested again.
    serviceNetwork.mend()
    serviceNetwork.cut()
    await is('live')
    await expect.poll(() => items).toHaveLength(1)
  })

  it('is late and then lost while the console is frozen', async () => {
    // A heartbeat comes every three seconds.
    const page = await openPage(service.key, { lateMs: 4_000, lostMs: 6_000 })
    const { topic, publish } = await newAxon()
    const { items, states, healths, is } = page.followed(topic)
    await is('live')
    pageNetwork.stall()
    await is('late')
    const { sinceMs } = healths.at(-1) as LiveHealth
    await is('lost')
    // Nothing has arrived since.
    expect(healths.at(-1)).toMatchObject({ state: 'lost', sinceMs, unreachableMs: sinceMs })
    await publish()
    pageNetwork.mend()
    await is('live')
    await expect.poll(() => items).toHaveLength(1)
    expect(states).toEqual(['connecting', 'live', 'late', 'lost', 'live'])
    expect(healths.at(-1)?.unreachableMs).toBeUndefined()
  })
})

describe('sign-out', () => {
  it('closes the connection and notifies the page', async () => {
    const page = await openPage()
    await page.followed((await newAxon()).topic).is('live')
    await gateway.fetch('/api/session', { method: 'DELETE', cookie: page.cookie })
    await expect.poll(() => page.onSignedOut).toHaveBeenCalled()
  })
})
