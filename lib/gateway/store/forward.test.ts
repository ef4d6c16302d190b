import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { serveOrForward } from './forward.ts'
import { SharedStore } from './shared-store.ts'
import { hasPostgres, startPostgres, type TestPostgres } from './testing-postgres.ts'

describe.skipIf(!hasPostgres)('requests to a leading console that hangs (needs PostgreSQL)', () => {
  let postgres: TestPostgres
  let gateway: TestConsole
  let hanging: Awaited<ReturnType<typeof startServer>>
  let front: Server
  const received: string[] = []
  const stores: SharedStore[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
    gateway = await startConsole({ url: 'http://127.0.0.1:9' })
    hanging = await startServer(({ method }) => received.push(String(method)))
  })
  afterAll(async () => {
    front.close()
    hanging.close()
    await gateway.close()
    for (const store of stores) await store.close()
    await postgres.remove()
  })

  const join = async (url: string) => {
    const store = new SharedStore(postgres.url, url)
    stores.push(store)
    await store.open()
    store.join({ onLead: () => undefined, onStepDown: () => undefined })
    return store
  }

  it('are repeated locally if they only read, and fail if they may have changed something', async () => {
    vi.spyOn(console, 'log').mockReturnValue(undefined)
    const leader = await join(hanging.url)
    await vi.waitFor(() => expect(leader.leads).toBe(true))
    const store = await join('http://127.0.0.1:9')
    await vi.waitFor(() => expect(store.leaderUrl).toBe(hanging.url))
    front = createServer((request: IncomingMessage, response: ServerResponse) => {
      void serveOrForward(store, request, response, () => response.end('served here'))
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
    const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/api/alerts/health`
    const answers = Promise.all([fetch(url), fetch(url, { method: 'POST', body: '{}' })])
    await vi.waitFor(() => expect(received.sort()).toEqual(['GET', 'POST']))
    await leader.leave()
    const [read, write] = await answers
    expect([read.status, await read.text()]).toEqual([200, 'served here'])
    expect([write.status, write.headers.get('retry-after')]).toEqual([503, null])
    expect((await write.json()).message).toMatch(/Check whether it was made/)
    expect(received).toHaveLength(2)
  })
})
