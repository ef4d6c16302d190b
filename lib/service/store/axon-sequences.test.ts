import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AxonEvents } from '../axon-events.ts'
import { createAxonEventStore } from './axon-events.ts'
import { createAxonStore } from './axons.ts'
import { type Database, openDatabase } from './database.ts'

let folder: string
const open: Database[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-sequences-'))
})
afterEach(() => {
  for (const database of open.splice(0)) if (database.isOpen) database.close()
  rmSync(folder, { recursive: true })
})

const axon = { id: 'axn_1', name: null, created_at_ms: 1, deleted_at_ms: null, metadata: {} }
const other = { ...axon, id: 'axn_2' }
const event = { event_type: 'note', origin: 'USER_EVENT', source: 'test', payload: '' } as const
const listQuery = { limit: 5_000, include_total_count: true }

/** The events of a service in one boot of the machine. It ends as if killed unless `end` is called. */
const live = (bootId: string, disk = 'disk') => {
  const database = openDatabase(join(folder, disk))
  open.push(database)
  const axons = createAxonStore(database)
  if (!axons.get('test', axon.id)) axons.createAll('test', [axon, other])
  const store = createAxonEventStore(database, bootId)
  const events = new AxonEvents({ database, store, now: () => 1, log: ({ message }) => expect.fail(message) })
  const publish = async (count: number, id = axon.id) => {
    const published = await Promise.all(Array.from({ length: count }, () => events.publish('test', id, event)))
    return published.map(({ sequence }) => sequence)
  }
  const list = (id = axon.id) => store.list(store.find('test', id)?.seq ?? 0, id, listQuery)
  return {
    database,
    publish,
    listen: (id = axon.id) => void events.subscribe('test', id, 0),
    list,
    sequences: (id = axon.id) => list(id).events.map(({ sequence }) => sequence),
    end: async () => {
      await events.close()
      database.close()
    },
  }
}

/** What is left by a power cut that comes before the disk is waited for again. */
const diskAsItIs = (name: string, of = 'disk') => {
  for (const side of ['', '-wal', '-shm']) cpSync(join(folder, `${of}${side}`), join(folder, `${name}${side}`))
  return name
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

describe('the sequences of an axon', () => {
  it('are without a gap, however many are published at once', async () => {
    const { publish, sequences } = live('boot 1')
    expect(await publish(1)).toEqual([1])
    expect(await publish(2_500)).toEqual(upTo(2_501, 2))
    for (let i = 0; i < 30; i++) await publish(70)
    expect(sequences().toReversed()).toEqual(upTo(2_501 + 2_100))
  })

  it.each([
    ['killed', 'the same boot', 'boot 1', async () => undefined],
    ['ended', 'the same boot', 'boot 1', (service: ReturnType<typeof live>) => service.end()],
    ['ended', 'another boot', 'boot 2', (service: ReturnType<typeof live>) => service.end()],
  ])('go on without a gap after a service that was %s, in %s', async (_, __, bootId, end) => {
    const before = live('boot 1')
    await before.publish(5)
    await end(before)
    const { publish, list } = live(bootId)
    expect(await publish(2)).toEqual([6, 7])
    expect(list()).toMatchObject({ total_count: 7, has_more: false })
  })

  it('never come again for another event when the power took the first away', async () => {
    const before = live('boot 1')
    await before.publish(3)
    await before.publish(2, other.id)
    const disk = diskAsItIs('left')
    const lost = await before.publish(900)

    const next = live('boot 2', disk)
    expect(next.sequences()).toEqual([3, 2, 1])
    const [first = 0, second] = await next.publish(2)
    expect(first).toBeGreaterThan(lost.at(-1) ?? 0)
    expect(second).toBe(first + 1)
    expect(next.list()).toMatchObject({ total_count: 5, has_more: false })
    expect((await next.publish(1, other.id))[0]).toBeGreaterThan(2)
    await next.end()

    const last = live('boot 3', disk)
    expect(await last.publish(1)).toEqual([first + 2])
    expect(last.list()).toMatchObject({ total_count: 6 })
    // A page that ends at the gap goes on behind it.
    const store = createAxonEventStore(open.at(-1) as Database)
    const page = store.list(store.find('test', axon.id)?.seq ?? 0, axon.id, { ...listQuery, starting_after: first })
    expect(page.events.map(({ sequence }) => sequence)).toEqual([3, 2, 1])
  })

  it('are known to the disk before an event is heard, and whenever they run out', async () => {
    const { publish, database } = live('boot 1')
    const ahead = vi.spyOn(database, 'inTransactionAhead')
    let [heardAhead, waited] = [0, 0]
    for (const [i, count] of [1, 600, 300, 99, 1, 1, 1_000, 999, 1, 1, 2].entries()) {
      const disk = diskAsItIs(`left-${i}`)
      ahead.mockClear()
      const heard = await publish(count)
      // What waited for the disk is not lost with the power.
      if (ahead.mock.calls.length === 0) waited++
      else {
        heardAhead++
        const [again = 0] = await live(`boot 1.${i}`, disk).publish(1)
        expect(again).toBeGreaterThan(heard.at(-1) ?? 0)
      }
    }
    expect([heardAhead, waited]).toEqual([8, 3])
  })

  it('leave their gap also when nothing is published between the power cut and a clean end', async () => {
    const before = live('boot 1')
    await before.publish(2)
    const disk = diskAsItIs('left')
    const lost = await before.publish(7)
    await live('boot 2', disk).end()
    const [first = 0] = await live('boot 3', disk).publish(1)
    expect(first).toBeGreaterThan(lost.at(-1) ?? 0)
  })

  it('are counted right when someone listens after a power cut before anything is published', async () => {
    const before = live('boot 1')
    await before.publish(3)
    const disk = diskAsItIs('left')
    const lost = await before.publish(7)
    const next = live('boot 2', disk)
    next.listen()
    expect(next.list()).toMatchObject({ total_count: 3 })
    const ahead = vi.spyOn(next.database, 'inTransactionAhead')
    const [first = 0] = await next.publish(1)
    expect(first).toBeGreaterThan(lost.at(-1) ?? 0)
    // With someone to hear it the first event goes out without waiting for the disk.
    expect(ahead).toHaveBeenCalledTimes(1)
    expect(next.list()).toMatchObject({ total_count: 4 })
    // Twice, and nobody published.
    for (const boot of ['boot 3', 'boot 4']) {
      const again = live(boot, diskAsItIs(boot, disk))
      again.listen()
      expect(again.list()).toMatchObject({ total_count: 4, has_more: false })
    }
  })

  it('need not begin with 1', async () => {
    const before = live('boot 1')
    before.listen()
    const disk = diskAsItIs('left')
    expect(await before.publish(2)).toEqual([1, 2])
    const next = live('boot 2', disk)
    expect(next.list()).toEqual({ events: [], has_more: false, total_count: 0 })
    const [first = 0] = await next.publish(2)
    expect(first).toBeGreaterThan(2)
    expect(next.list()).toMatchObject({ has_more: false, total_count: 2 })
  })

  it('leave another gap for each power cut', async () => {
    const heard: number[] = []
    let disk = 'disk'
    for (let cut = 1; cut <= 3; cut++) {
      const service = live(`boot ${cut}`, disk)
      heard.push(...(await service.publish(2)))
      const left = diskAsItIs(`cut-${cut}`, disk)
      heard.push(...(await service.publish(10)))
      disk = left
    }
    expect(new Set(heard).size).toBe(36)
    expect(heard).toEqual(heard.toSorted((a, b) => a - b))
    expect(live('boot 4', disk).list()).toMatchObject({ total_count: 6 })
  })
})
