import Runloop from '@runloop/api-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from './testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

describe.each([
  ['HTTP/2, its default', {}],
  ['HTTP/1.1', { http2: false }],
])('the public client over %s', (_, transport) => {
  const client = () => new Runloop({ bearerToken: service.key, baseURL: service.url, maxRetries: 0, ...transport })

  it('creates, lists by metadata and reads axons', async () => {
    const name = `from ${JSON.stringify(transport)}`
    const axon = await client().axons.create({ name, metadata: { env: 'prod' } })
    const page = await client().axons.list({ name, limit: 5 })
    expect(page.axons.map(({ id }) => id)).toEqual([axon.id])
    expect(await client().axons.retrieve(axon.id)).toMatchObject({ id: axon.id, name, metadata: { env: 'prod' } })
  })

  it('follows the cursor through all pages', async () => {
    const name = `paged ${JSON.stringify(transport)}`
    const made: string[] = []
    for (let i = 0; i < 7; i++) made.unshift((await client().axons.create({ name })).id)
    const seen: string[] = []
    for await (const axon of client().axons.list({ name, limit: 3 })) seen.push(axon.id)
    expect(seen).toEqual(made)
  })

  it('meets the errors of the service as its own', async () => {
    await expect(client().axons.retrieve('axn_missing')).rejects.toMatchObject({
      status: 404,
      message: '404 There is no axon axn_missing',
    })
    const stranger = new Runloop({ bearerToken: 'ak_wrong', baseURL: service.url, maxRetries: 0, ...transport })
    await expect(stranger.axons.list({})).rejects.toMatchObject({ status: 401 })
  })

  it('runs a command in a devbox it created, and is told of its eviction', async () => {
    const devbox = await client().devboxes.createAndAwaitRunning({ name: 'from outside', metadata: { from: 'test' } })
    expect(devbox.status).toBe('running')
    const listed = await client().devboxes.list({ status: 'running' })
    expect(listed.devboxes.map(({ id }) => id)).toContain(devbox.id)

    const done = await client().devboxes.executeAndAwaitCompletion(devbox.id, { command: 'echo $((6*7)); exit 3' })
    expect(done).toMatchObject({ status: 'completed', stdout: '42\n', exit_status: 3 })

    const { execution_id } = await client().devboxes.executions.executeAsync(devbox.id, {
      command: 'echo first; echo last',
    })
    let output = ''
    for await (const chunk of await client().devboxes.executions.streamStdoutUpdates(devbox.id, execution_id))
      output += chunk.output
    expect(output).toBe('first\nlast\n')

    const eviction = { devbox_id: devbox.id, eviction_deadline_ms: Date.now() + 3_600_000 }
    await service.client.evictions.schedule({ body: eviction })
    const stream = await client().devboxes.watchEvictions()
    for await (const event of stream) {
      expect(event).toEqual(eviction)
      break
    }
    stream.controller.abort()
    expect(await client().devboxes.shutdown(devbox.id)).toMatchObject({ status: 'shutdown' })
  })
})
