import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { liveClose } from '#lib/protocol/live.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { acquireSlot, inFlight, maxConcurrent } from './concurrency-limit.ts'

let service: TestService
let gateway: TestConsole
let cookie: string
beforeAll(async () => {
  service = await startService()
  gateway = await startConsole({ url: service.url, ownKey: service.key })
  cookie = await gateway.signIn(service.key)
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

const fill = (account: string, kind: keyof typeof maxConcurrent) => {
  const counted = Array.from({ length: maxConcurrent[kind] }, () => acquireSlot(account, kind))
  return () => {
    for (const releaseSlot of counted) releaseSlot?.()
  }
}
const list = () => gateway.fetch('/api/v1/axons', { cookie })

it('429 with Retry-After for an account over its call limit, but not for others', async () => {
  const empty = fill('test', 'calls')
  const answer = await list()
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
  empty()
  const others = fill('other', 'calls')
  expect((await list()).status).toBe(200)
  others()
})

it('releases every call, whatever its response', async () => {
  await Promise.all(Array.from({ length: 20 }, async () => (await list()).text()))
  await (await gateway.fetch('/api/v1/axons/axn_none', { cookie })).text()
  const post = { method: 'POST', cookie, body: '{', headers: { 'content-type': 'application/json' } }
  await (await gateway.fetch('/api/v1/axons', post)).text()
  await expect.poll(() => [...inFlight(gateway.registry).keys()]).toEqual([])
})

it('reports the reason to pages over a limit', async () => {
  const socketUrl = `${gateway.url.replace('http', 'ws')}/api/live`
  const open = () => new WebSocket(socketUrl, { headers: { cookie }, origin: gateway.origin })
  const emptyStreams = fill('test', 'streams')
  const page = open()
  await once(page, 'open')
  const topic = { endpoint: 'logs.tail', params: { id: 'dbx_none' } }
  page.send(JSON.stringify({ t: 'subscribe', id: 1, topic }))
  const ends: { error?: { status: number } }[] = []
  page.on('message', (data) => {
    const notice = JSON.parse(String(data))
    if (notice.t === 'end') ends.push(notice)
  })
  await expect.poll(() => ends.length).toBe(1)
  expect(ends[0]?.error?.status).toBe(429)
  page.terminate()
  emptyStreams()
  await expect.poll(() => [...inFlight(gateway.registry).keys()]).toEqual([])
  const emptyPages = fill('test', 'pages')
  const [code] = await once(open(), 'close')
  expect(code).toBe(liveClose.tooMany)
  emptyPages()
})
