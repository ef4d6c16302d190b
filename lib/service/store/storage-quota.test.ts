import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ApiError } from '#lib/client/api-error.ts'
import { harborJob, zipOf } from '#lib/service/testing/harbor-job.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

const mib = 1024 * 1024
let service: TestService
beforeEach(async () => {
  service = await startService({ isolation: 'none', maxStorageBytes: 4 * mib })
})
afterEach(() => service.close())

const event = (bytes: number) =>
  ({ event_type: 'note', origin: 'AGENT_EVENT', source: 'test', payload: 'x'.repeat(bytes) }) as const
/** Publishes smaller and smaller events until one byte does not fit. */
const fill = async (id: string) => {
  for (let bytes = 500_000; bytes >= 1; bytes = Math.floor(bytes / 2))
    while ((await refusal(service.client.axons.publish({ params: { id }, body: event(bytes) }))) === undefined);
}
const refusal = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error instanceof ApiError ? { status: error.status, code: error.code, message: error.message } : error
}
const isFull = (message: string) => ({
  status: 507,
  code: 'insufficient_storage',
  message: expect.stringMatching(
    new RegExp(`^Account test stores .*${message}.* of at most 4\\.0 MiB; .*--max-storage`),
  ),
})

describe('an account at its storage limit', () => {
  it('cannot write axons, events or SQL but can read; other accounts can write', async () => {
    const { client, otherClient } = service
    const { id } = await client.axons.create({ body: { name: 'full' } })
    const params = { id }
    await client.axons.query({ params, body: { sql: 'CREATE TABLE t (a)' } })
    const storm = await Promise.allSettled(
      Array.from({ length: 12 }, () => client.axons.publish({ params, body: event(500_000) })),
    )
    // Events are counted before they are written, so concurrent ones cannot exceed the limit.
    expect(storm.filter(({ status }) => status === 'fulfilled')).toHaveLength(8)
    await fill(id)

    expect(await refusal(client.axons.publish({ params, body: event(300_000) }))).toEqual(isFull('axons'))
    const metadata = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`key ${i}`, 'v'.repeat(4000)]))
    expect(await refusal(client.axons.update({ params, body: { metadata } }))).toEqual(isFull('axons'))
    expect((await client.axons.get({ params })).name).toBe('full')
    expect((await client.axons.events({ params, query: { limit: 1 } })).events).toHaveLength(1)
    const other = await otherClient.axons.create({ body: {} })
    await otherClient.axons.publish({ params: { id: other.id }, body: event(500_000) })
  })

  it('cannot grow the database of an axon', async () => {
    const { client } = service
    const params = { id: (await client.axons.create({ body: {} })).id }
    const insert = { sql: 'INSERT INTO t VALUES (zeroblob(1500000))' }
    await client.axons.query({ params, body: { sql: 'CREATE TABLE t (a)' } })
    let thrown: unknown
    for (let i = 0; i < 5 && !thrown; i++) thrown = await refusal(client.axons.query({ params, body: insert }))
    expect(thrown).toEqual(isFull('axons'))
    expect(await refusal(client.axons.batch({ params, body: { statements: [insert] } }))).toEqual(isFull('axons'))
    expect(await refusal(client.axons.create({ body: {} }))).toEqual(isFull('axons'))
    expect((await client.axons.query({ params, body: { sql: 'SELECT count(*) FROM t' } })).rows).toEqual([[3]])
  })

  it('truncates output and runs no more commands', async () => {
    const { client, otherClient } = service
    const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
    const print = { params: { id }, body: { command: 'head -c 5000000 /dev/zero | tr "\\0" x' } }
    const { stdout_truncated } = await client.executions.execute({ ...print, query: {} })
    expect(stdout_truncated).toBe(true)
    const scenarios = { type: 'scenarios' as const, scenario_ids: [], agent_configs: [] }
    const file = await zipOf(harborJob({ pay__a: { task: 'pay', reward: 1 } }))
    for (const call of [
      () => client.executions.executeAsync(print),
      () => client.executions.executeSync(print),
      () => client.snapshots.createAsync({ params: { id }, body: {} }),
      () => client.benchmarkJobs.create({ body: { spec: scenarios } }),
      () => client.benchmarkJobs.import({ body: {}, file }),
    ])
      expect(await refusal(call())).toEqual(isFull('outputs'))
    const other = await otherClient.devboxes.createAndAwaitRunning({ body: {} })
    const { exit_status } = await otherClient.executions.executeSync({
      params: { id: other.id },
      body: { command: ':' },
    })
    expect(exit_status).toBe(0)
  })

  it('cannot take a snapshot that does not fit until it deletes another', async () => {
    const { client } = service
    const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
    const params = { id }
    await client.executions.executeSync({ params, body: { command: 'head -c 2500000 /dev/urandom > file' } })
    const first = await client.snapshots.create({ params, body: {} })
    expect(await refusal(client.snapshots.create({ params, body: {} }))).toEqual(isFull('snapshots'))
    const { id: late } = await client.snapshots.createAsync({ params, body: {} })
    const state = () => client.snapshots.status({ params: { id: late } })
    await expect
      .poll(state)
      .toMatchObject({ status: 'error', error_message: expect.stringMatching(/^Account test stores/) })
    await client.snapshots.delete({ params: { id: first.id } })
    expect((await client.snapshots.create({ params, body: {} })).size_bytes).toBeGreaterThan(2_500_000)
  })

  it('stays at its limit after a restart', async () => {
    const { client } = service
    const axon = await client.axons.create({ body: {} })
    await client.axons.publish({ params: { id: axon.id }, body: event(500_000) })
    const sql = 'CREATE TABLE t AS SELECT zeroblob(900000) AS a'
    await client.axons.query({ params: { id: axon.id }, body: { sql } })
    const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
    const command = 'head -c 700000 /dev/zero | tr "\\0" x; head -c 900000 /dev/urandom > file'
    await client.executions.executeSync({ params: { id }, body: { command } })
    await client.snapshots.create({ params: { id }, body: {} })
    const files = harborJob({ pay__a: { task: 'pay', reward: 1 } })
    await client.benchmarkJobs.import({
      body: {},
      file: await zipOf({ ...files, 'nightly/pay__a/agent/log.txt': 'x'.repeat(300_000) }),
    })
    await fill(axon.id)
    const publish = () => refusal(client.axons.publish({ params: { id: axon.id }, body: event(1) }))
    const before = await publish()
    expect(before).toEqual(isFull('snapshots .*axons .*outputs .*run logs'))
    await service.restart()
    await expect.poll(publish).toEqual(before)
  })
})
