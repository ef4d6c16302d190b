import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { runCommand } from '#lib/service/testing/process.ts'
import { slowDisk } from '#lib/service/testing/slow-disk.ts'

const folder = mkdtempSync(join(tmpdir(), 'devdeck-slow-disk-'))
const disk = slowDisk(folder)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.skipIf(!disk)('a service on a slow disk (needs a C compiler)', () => {
  const { environment, hold, fail, flushes } = disk as NonNullable<typeof disk>
  let service: Awaited<ReturnType<typeof start>>

  const start = async (dataDir = mkdtempSync(join(folder, 'data-'))) => {
    const args = ['--port', '0', '--isolation', 'none', '--engine', 'none', '--stop-with-parent', '--data-dir', dataDir]
    const { child, ready, ended } = runCommand(args, environment)
    const baseUrl = await ready
    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
    const client = createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
    return { client, child, ended, dataDir }
  }
  beforeEach(async () => {
    service = await start()
  })
  afterEach(async () => {
    hold(false)
    fail(false)
    service.child.kill('SIGTERM')
    await service.ended
  })

  /** Starts a call whose flush is held, and returns how it stands. */
  const held = async <T>(call: () => Promise<T>) => {
    const before = flushes().length
    hold(true)
    const state = { isSettled: false }
    const done = call().finally(() => {
      state.isSettled = true
    })
    done.catch(() => undefined)
    await expect.poll(() => flushes().length, { interval: 5 }).toBeGreaterThan(before)
    return { state, done }
  }

  it('serves reads during a flush, and responds to a write only after it', async () => {
    const { client } = service
    const { state, done } = await held(() => client.axons.create({ body: { name: 'first' } }))
    for (let i = 0; i < 20; i++) await client.axons.list()
    expect(state.isSettled).toBe(false)
    expect(flushes().at(-1)).toBe('begin')
    hold(false)
    await done
    expect(flushes().at(-1)).toBe('end')
  })

  it('sends an event to subscribers only after the flush', async () => {
    const { client } = service
    const { id } = await client.axons.create({ body: {} })
    const event = (payload: string) => ({ event_type: 'note', origin: 'USER_EVENT' as const, source: 'test', payload })
    const publish = (payload: string) => client.axons.publish({ params: { id }, body: event(payload) })
    await publish('before')
    const early = client.axons.subscribe({ params: { id } })[Symbol.asyncIterator]()
    expect((await early.next()).value).toMatchObject({ payload: 'before' })
    const heard: string[] = []
    const next = early.next().then(({ value }) => heard.push(value.payload))
    const { state, done } = await held(() => publish('held'))
    await client.axons.events({ params: { id } })
    expect({ ...state, heard }).toEqual({ isSettled: false, heard: [] })
    hold(false)
    await Promise.all([done, next])
    expect(heard).toEqual(['held'])
    await early.return?.()
  })

  it('shares a flush between the writes that arrive during one', async () => {
    const { client } = service
    const { done } = await held(() => client.axons.create({ body: { name: 'first' } }))
    const before = flushes().length
    const others = Array.from({ length: 20 }, (_, i) => client.axons.create({ body: { name: `other ${i}` } }))
    await expect.poll(async () => (await client.axons.list()).total_count, { interval: 5 }).toBe(21)
    hold(false)
    await Promise.all([done, ...others])
    expect(flushes().slice(before)).toEqual(['end', 'begin', 'end'])
  })

  it('restarts a long log in the background and keeps every acknowledged event', async () => {
    const { client, dataDir, child, ended } = service
    const log = join(dataDir, 'devdeck.db-wal')
    const salt = () => readFileSync(log).toString('hex', 16, 24)
    const before = salt()
    const { id } = await client.axons.create({ body: {} })
    const event = { event_type: 'note', origin: 'USER_EVENT' as const, source: 'test', payload: 'x'.repeat(60_000) }
    const publish = () => client.axons.publish({ params: { id }, body: event })
    for (let i = 0; i < 80; i++) await publish()
    await expect.poll(salt, { interval: 20, timeout: 10_000 }).not.toBe(before)
    await publish()
    child.kill('SIGKILL')
    await ended
    service = await start(dataDir)
    expect((await service.client.axons.events({ params: { id } })).total_count).toBe(81)
    expect(existsSync(join(dataDir, 'lost+found'))).toBe(false)
  })

  it('acknowledges nothing and exits when a flush fails', async () => {
    const { client, ended } = service
    fail(true)
    await expect(client.axons.create({ body: { name: 'lost' } })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('The disk failed, so the change may be lost'),
    })
    expect(await ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('A change could not be written to the disk'),
    })
  })
})
