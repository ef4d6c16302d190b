import Runloop from '@runloop/api-client'
import { afterAll, describe, expect, it } from 'vitest'
import { type AxonEvent, maxPayloadBytes } from '#lib/contract/axons.ts'
import { startService, statusOf } from '#lib/service/testing/service.ts'

const service = await startService({ isolation: 'none' })
afterAll(() => service.close())

const event = (payload: string) => ({ event_type: 'note', origin: 'USER_EVENT' as const, source: 'test', payload })
const newAxon = async () => (await service.client.axons.create({ body: { name: 'log' } })).id
const publish = (id: string, payload: string) => service.client.axons.publish({ params: { id }, body: event(payload) })
const list = (id: string, query = {}) => service.client.axons.events({ params: { id }, query })

const take = async <T>(stream: AsyncIterable<T>, count: number): Promise<T[]> => {
  const taken: T[] = []
  for await (const each of stream) if (taken.push(each) === count) break
  return taken
}

describe('POST /v1/axons/{id}/publish', () => {
  it('200 assigns consecutive sequences, also to concurrent publishers', async () => {
    const id = await newAxon()
    expect(await publish(id, 'first')).toEqual({ sequence: 1, timestamp_ms: expect.any(Number) })
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) => publish(id, String(i))))
    expect(all.map(({ sequence }) => sequence).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, i) => i + 2),
    )
    const { events } = await list(id, { limit: 5000 })
    for (const [i, { sequence }] of all.entries())
      expect(events.find((each) => each.sequence === sequence)?.payload).toBe(String(i))
  })

  it('200 accepts any text up to the limit', async () => {
    const id = await newAxon()
    const payloads = ['', '\0\r\n\n: data: x\u2028', '{"a":1}', 'ü'.repeat(maxPayloadBytes / 2)]
    for (const payload of payloads) await publish(id, payload)
    const streamed = await take(service.client.axons.subscribe({ params: { id } }), payloads.length)
    expect(streamed.map(({ payload }) => payload)).toEqual(payloads)
    expect((await list(id)).events.map(({ payload }) => payload)).toEqual(payloads.toReversed())
  })

  it.each([
    ['payload', { payload: 'x'.repeat(maxPayloadBytes + 1) }],
    ['payload', { payload: { an: 'object' } }],
    ['origin', { origin: 'SYSTEM_EVENT' }],
    ['event_type', { event_type: '' }],
    ['source', { source: null }],
  ])('400 on an invalid %s', async (field, wrong) => {
    const id = await newAxon()
    await expect(
      service.client.axons.publish({ params: { id }, body: { ...event('x'), ...wrong } as never }),
    ).rejects.toMatchObject({ status: 400, field })
    expect((await list(id)).events).toEqual([])
  })

  it('409 on a deleted axon, 404 on an unknown one', async () => {
    const id = await newAxon()
    await publish(id, 'x')
    await service.client.axons.delete({ params: { id } })
    expect(await statusOf(publish(id, 'y'))).toBe(409)
    expect((await list(id)).events).toHaveLength(1)
    expect(await statusOf(publish('axn_none', 'x'))).toBe(404)
  })
})

describe('GET /v1/axons/{id}/events', () => {
  it('200 lists newest first and continues from a sequence', async () => {
    const id = await newAxon()
    for (let i = 1; i <= 5; i++) await publish(id, String(i))
    const sequences = async (query: object) => {
      const { events, has_more, total_count } = await list(id, query)
      return [events.map(({ sequence }) => sequence), has_more, total_count]
    }
    expect(await sequences({})).toEqual([[5, 4, 3, 2, 1], false, 5])
    expect(await sequences({ limit: 2 })).toEqual([[5, 4], true, 5])
    expect(await sequences({ limit: 2, starting_after: 4 })).toEqual([[3, 2], true, 5])
    expect(await sequences({ limit: 2, starting_after: 2, include_total_count: false })).toEqual([[1], false, null])
    expect(await sequences({ starting_after: 1 })).toEqual([[], false, 5])
  })
})

describe('GET /v1/axons/{id}/subscribe/sse', () => {
  it('200 replays after a sequence and continues live', async () => {
    const id = await newAxon()
    for (let i = 1; i <= 3; i++) await publish(id, String(i))
    const stream = service.client.axons
      .subscribe({ params: { id }, query: { after_sequence: 1 } })
      [Symbol.asyncIterator]()
    expect((await stream.next()).value).toMatchObject({ axon_id: id, sequence: 2, payload: '2', origin: 'USER_EVENT' })
    expect((await stream.next()).value).toMatchObject({ sequence: 3 })
    const next = stream.next()
    await publish(id, 'live')
    expect((await next).value).toMatchObject({ sequence: 4, payload: 'live' })
    await stream.return?.()
  })

  it('200 neither loses nor repeats events between replay and live for many subscribers', async () => {
    const id = await newAxon()
    const publishers = 20
    const each = 30
    const publishing = Promise.all(
      Array.from({ length: publishers }, async () => {
        for (let i = 0; i < each; i++) await publish(id, 'x')
      }),
    )
    const received: Promise<AxonEvent[]>[] = []
    // Subscribe while events are being published.
    for (let i = 0; i < 20; i++) {
      received.push(take(service.client.axons.subscribe({ params: { id } }), publishers * each))
      await publish(id, 'between')
    }
    await publishing
    const sequences = Array.from({ length: publishers * each }, (_, i) => i + 1)
    for (const events of await Promise.all(received)) expect(events.map(({ sequence }) => sequence)).toEqual(sequences)
  })

  it('200 ends after the last event when the axon is deleted', async () => {
    const id = await newAxon()
    await publish(id, 'last')
    const live = take(service.client.axons.subscribe({ params: { id } }), 99)
    await service.client.axons.delete({ params: { id } })
    expect(await live).toMatchObject([{ payload: 'last' }])
    expect(await take(service.client.axons.subscribe({ params: { id } }), 99)).toMatchObject([{ payload: 'last' }])
  })
})

it('sends every event once to the public client across restarts of the service', async () => {
  const client = new Runloop({ bearerToken: service.key, baseURL: service.url })
  const { id } = await client.axons.create({ name: 'public' })
  await client.axons.publish(id, event('1'))
  const received: number[] = []
  const total = 60
  const listening = (async () => {
    for await (const { sequence } of await client.axons.subscribeSse(id)) if (received.push(sequence) === total) return
  })()
  for (let i = 2; i <= 20; i++) await client.axons.publish(id, event(String(i)))
  await service.restart()
  for (let i = 21; i <= 40; i++) await publish(id, String(i))
  // The client waits for the delay that the stopping service sent.
  await expect.poll(() => received.length).toBe(40)
  await service.restart()
  for (let i = 41; i <= total; i++) await publish(id, String(i))
  await listening
  expect(received).toEqual(Array.from({ length: total }, (_, i) => i + 1))
  const { events } = await client.axons.events.list(id, { limit: 5 })
  expect(events.map(({ sequence }) => sequence)).toEqual([60, 59, 58, 57, 56])
})
