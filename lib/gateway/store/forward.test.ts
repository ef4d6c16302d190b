import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { serveOrForward } from './forward.ts'
import { SharedStore } from './shared-store.ts'
import { hasPostgres, startPostgres, type TestPostgres } from './testing-postgres.ts'

describe.skipIf(!hasPostgres)('requests to a leading console (needs PostgreSQL)', () => {
  let postgres: TestPostgres
  let gateway: TestConsole
  let leading: Awaited<ReturnType<typeof startServer>>
  let front: Server
  let url: string
  let leader: SharedStore
  const received: string[] = []
  let respond: (response: ServerResponse) => unknown
  const stores: SharedStore[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
    gateway = await startConsole({ url: 'http://127.0.0.1:9' })
    leading = await startServer(({ method }, response) => {
      received.push(String(method))
      respond(response)
    })
    vi.spyOn(console, 'log').mockReturnValue(undefined)
    leader = await join(leading.url)
    await vi.waitFor(() => expect(leader.leads).toBe(true))
    const store = await join('http://127.0.0.1:9')
    await vi.waitFor(() => expect(store.leaderUrl).toBe(leading.url))
    front = createServer((request: IncomingMessage, response: ServerResponse) => {
      void serveOrForward(store, request, response, () => response.end('served here'))
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
    url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/api/alerts/health`
  })
  afterAll(async () => {
    front.close()
    leading.close()
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

  it('are repeated if they only read and the leader dies before the body of its response', async () => {
    respond = (response) => {
      respond = (second) => second.end('complete')
      response.writeHead(200, { 'content-length': 8 }).flushHeaders()
      setImmediate(() => response.destroy())
    }
    expect(await (await fetch(url)).text()).toBe('complete')
    expect(received.splice(0)).toEqual(['GET', 'GET'])
  })

  it('are repeated locally if they only read and the leader hangs, and fail if they may have changed something', async () => {
    respond = () => undefined
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
