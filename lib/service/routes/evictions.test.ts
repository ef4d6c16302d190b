import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Client } from '#lib/client/client.ts'
import { pendingCountHeader } from '#lib/contract/evictions.ts'
import { startService, statusOf } from '#lib/service/testing/service.ts'

const service = await startService()
afterAll(() => service.close())

const inAnHour = () => Date.now() + 3_600_000
const create = async (client: Client = service.client) => (await client.devboxes.createAndAwaitRunning({ body: {} })).id
const schedule = (devbox_id: string, eviction_deadline_ms: number, client: Client = service.client) =>
  client.evictions.schedule({ body: { devbox_id, eviction_deadline_ms } })
const suspended = (id: string) => service.reach(id, 'suspended')

const watch = async (
  count: number,
  afterFirst: () => Promise<unknown> = async () => undefined,
  client: Client = service.client,
) => {
  const stop = new AbortController()
  const seen: { devbox_id: string; eviction_deadline_ms: number }[] = []
  for await (const eviction of client.evictions.watch({ signal: stop.signal })) {
    if (seen.push(eviction) === count) break
    if (seen.length === 1) await afterFirst()
  }
  stop.abort()
  return seen
}

describe('evictions', () => {
  it('are streamed when pending, then when scheduled or moved', async () => {
    const [one, two] = [await create(), await create()]
    const deadline = inAnHour()
    await schedule(one, deadline)
    const seen = await watch(3, async () => {
      await schedule(two, deadline + 1)
      await schedule(one, deadline - 1)
    })
    expect(seen).toEqual([
      { devbox_id: one, eviction_deadline_ms: deadline },
      { devbox_id: two, eviction_deadline_ms: deadline + 1 },
      { devbox_id: one, eviction_deadline_ms: deadline - 1 },
    ])
    await service.client.evictions.cancel({ params: { devbox_id: one } })
    expect(await watch(1)).toEqual([{ devbox_id: two, eviction_deadline_ms: deadline + 1 }])
    await service.client.devboxes.shutdown({ params: { id: two } })
    expect(await statusOf(service.client.evictions.cancel({ params: { devbox_id: two } }))).toBe(404)
  })

  it('are counted in a response header', async () => {
    const counted = async () => {
      const headers = { authorization: `Bearer ${service.key}` }
      const response = await fetch(`${service.url}/v1/devboxes/evictions/watch`, { headers })
      await response.body?.cancel()
      return Number(response.headers.get(pendingCountHeader))
    }
    const before = await counted()
    await schedule(await create(), inAnHour())
    expect(await counted()).toBe(before + 1)
  })

  it('suspend the devbox at the deadline', async () => {
    const id = await create()
    await schedule(id, Date.now() + 100)
    await suspended(id)
    expect(await statusOf(service.client.evictions.cancel({ params: { devbox_id: id } }))).toBe(404)
  })

  it('run immediately for a past deadline, and wait weeks for a distant one', async () => {
    const [past, far] = [await create(), await create()]
    await schedule(far, Date.now() + 40 * 24 * 3_600_000)
    await schedule(past, 0)
    await suspended(past)
    expect((await service.client.devboxes.get({ params: { id: far } })).status).toBe('running')
  })

  it('require a running devbox of the account', async () => {
    const id = await create()
    expect(await statusOf(schedule(id, inAnHour(), service.otherClient))).toBe(404)
    expect(await statusOf(schedule('dbx_none', inAnHour()))).toBe(404)
    await service.client.devboxes.suspend({ params: { id } })
    expect(await statusOf(schedule(id, inAnHour()))).toBe(409)
  })

  it('require a valid deadline', async () => {
    const id = await create()
    for (const deadline of [-1, 1.5, 8.64e15 + 1])
      await expect(schedule(id, deadline)).rejects.toMatchObject({ status: 400, field: 'eviction_deadline_ms' })
    expect(await schedule(id, 8.64e15)).toEqual({ devbox_id: id, eviction_deadline_ms: 8.64e15 })
  })

  it('are streamed only to their account', async () => {
    const [mine, theirs] = [await create(), await create(service.otherClient)]
    await schedule(mine, inAnHour())
    const deadline = inAnHour()
    await schedule(theirs, deadline, service.otherClient)
    expect(await watch(1, undefined, service.otherClient)).toEqual([
      { devbox_id: theirs, eviction_deadline_ms: deadline },
    ])
  })

  it('survive a restart, which runs overdue ones', async () => {
    const [later, soon] = [await create(), await create()]
    const now = Date.now
    await schedule(later, inAnHour())
    await schedule(soon, now() + 600_000)
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 600_000)
    onTestFinished(() => void vi.restoreAllMocks())
    await service.restart()
    await suspended(soon)
    expect((await watch(2)).map(({ devbox_id }) => devbox_id)).not.toContain(soon)
  })
})
