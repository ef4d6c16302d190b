import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import type { AxonEvent } from '#lib/contract/axons.ts'
import { runCommand } from '#lib/service/testing/process.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

const event = (payload: string) => ({ event_type: 'note', origin: 'USER_EVENT' as const, source: 'test', payload })

const subscribe = (service: TestService, id: string) =>
  service.client.axons.subscribe({ params: { id } })[Symbol.asyncIterator]() as AsyncIterator<AxonEvent>

describe('an event', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ isolation: 'none' })
  })
  afterAll(() => service.close())

  it('is streamed only once it is on disk, and never if the write fails', async () => {
    const { id } = await service.client.axons.create()
    const stream = subscribe(service, id)
    await service.client.axons.publish({ params: { id }, body: event('first') })
    expect((await stream.next()).value).toMatchObject({ sequence: 1 })
    const writer = new DatabaseSync(join(service.dataDir, 'devdeck.db'))
    try {
      writer.exec("CREATE TRIGGER refuse BEFORE INSERT ON axon_events BEGIN SELECT raise(ROLLBACK, 'no'); END")
      await expect(service.client.axons.publish({ params: { id }, body: event('refused') })).rejects.toMatchObject({
        status: 500,
      })
      writer.exec('DROP TRIGGER refuse')
    } finally {
      writer.close()
    }
    await service.client.axons.publish({ params: { id }, body: event('second') })
    expect((await stream.next()).value).toMatchObject({ sequence: 2, payload: 'second' })
    await stream.return?.()
  })
})

describe('a killed service', () => {
  it('neither loses nor repeats events', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-killed-'))
    const start = (port: string) =>
      runCommand(['--port', port, '--isolation', 'none', '--data-dir', dataDir, '--stop-with-parent'])
    let command = start('0')
    try {
      const baseUrl = await command.ready
      const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
      const client = createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
      const { id } = await client.axons.create()

      const subscribers = Array.from({ length: 30 }, () => ({ received: [] as number[] }))
      const disconnect = new AbortController()
      const listening = subscribers.map(async ({ received }) => {
        while (!disconnect.signal.aborted)
          try {
            const query = { after_sequence: received.at(-1) ?? 0 }
            const { signal } = disconnect
            for await (const { sequence } of client.axons.subscribe({ params: { id }, query, signal }))
              received.push(sequence)
          } catch {
            // The service is restarting.
          }
      })
      const acknowledged: number[] = []
      for (let round = 0; round < 3; round++) {
        let isKilled = false
        const publishing = Array.from({ length: 5 }, async () => {
          while (!isKilled)
            await client.axons.publish({ params: { id }, body: event('x') }).then(
              ({ sequence }) => acknowledged.push(sequence),
              (error) => isKilled || expect.fail(String(error)),
            )
        })
        const before = acknowledged.length
        await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 50)
        isKilled = true
        command.child.kill('SIGKILL')
        await command.ended
        await Promise.all(publishing)
        command = start(new URL(baseUrl).port)
        await command.ready
      }
      const { sequence: last } = await client.axons.publish({ params: { id }, body: event('last') })
      const all = Array.from({ length: last }, (_, i) => i + 1)
      for (const { received } of subscribers) {
        await expect.poll(() => received.length).toBeGreaterThanOrEqual(last)
        expect(received).toEqual(all)
      }
      expect(acknowledged.length).toBeGreaterThan(150)
      expect(new Set(acknowledged).size).toBe(acknowledged.length)
      disconnect.abort()
      await Promise.all(listening)
    } finally {
      command.child.kill('SIGKILL')
      await command.ended
      rmSync(dataDir, { recursive: true })
    }
  })
})
