import Runloop, { RunloopSDK } from '@runloop/api-client'
import { afterAll, describe, expect, it } from 'vitest'
import { startService, statusOf } from '#lib/service/testing/service.ts'

const service = await startService()
afterAll(() => service.close())

describe.each([
  ['HTTP/2', {}],
  ['HTTP/1.1', { http2: false }],
])('the public client over %s', (_, transport) => {
  const client = () => new Runloop({ bearerToken: service.key, baseURL: service.url, maxRetries: 0, ...transport })

  it('creates, lists and reads axons', async () => {
    const name = `from ${JSON.stringify(transport)}`
    const axon = await client().axons.create({ name, metadata: { env: 'prod' } })
    const page = await client().axons.list({ name, limit: 5 })
    expect(page.axons.map(({ id }) => id)).toEqual([axon.id])
    expect(await client().axons.retrieve(axon.id)).toMatchObject({ id: axon.id, name, metadata: { env: 'prod' } })
  })

  it('runs commands and shells, sends stdin and reads logs', async () => {
    const sdk = new RunloopSDK({ bearerToken: service.key, baseURL: service.url, maxRetries: 0, ...transport })
    const devbox = await sdk.devbox.create({ name: 'commands' })
    let lines = 0
    const result = await devbox.cmd.exec('for i in {1..300}; do echo line $i; done; echo e >&2; exit 4', {
      stdout: (text) => {
        lines += text.split('\n').length - 1
      },
    })
    expect([result.exitCode, lines, (await result.stdout()).split('\n').length, await result.stderr()]).toEqual([
      4,
      300,
      301,
      'e\n',
    ])
    const endless = await devbox.cmd.execAsync('sleep 1000')
    await endless.kill()
    expect((await endless.result()).exitCode).toBe(137)
    const shell = devbox.shell('main')
    await shell.exec('cd /tmp; export A=5')
    expect(await (await shell.exec('pwd; echo $A')).stdout()).toBe('/tmp\n5\n')
    const { logs } = await client().devboxes.logs.list(devbox.id, { shell_name: 'main' })
    expect(logs.map(({ cmd, message, exit_code }) => cmd ?? message ?? exit_code)).toEqual([
      'cd /tmp; export A=5',
      0,
      'pwd; echo $A',
      '/tmp',
      '5',
      0,
    ])
    const { execution_id } = await client().devboxes.executeAsync(devbox.id, { command: 'cat', attach_stdin: true })
    // The client mistakes a signal without text for request options.
    for (const input of [{ text: 'hello' }, { text: '', signal: 'EOF' as const }])
      expect(await client().devboxes.executions.sendStdIn(devbox.id, execution_id, input)).toMatchObject({
        success: true,
      })
    expect((await client().devboxes.executions.awaitCompleted(devbox.id, execution_id)).stdout).toBe('hello')
    await devbox.shutdown()
  })

  it('maps errors of the service', async () => {
    await expect(client().axons.retrieve('axn_missing')).rejects.toMatchObject({
      status: 404,
      message: '404 Axon axn_missing not found',
    })
    const stranger = new Runloop({ bearerToken: 'ak_wrong', baseURL: service.url, maxRetries: 0, ...transport })
    expect(await statusOf(stranger.axons.list({}))).toBe(401)
  })
})

describe('the public client', () => {
  const client = () => new Runloop({ bearerToken: service.key, baseURL: service.url, maxRetries: 0 })

  it('suspends, resumes and shuts down devboxes, and reports failed ones', async () => {
    const { devboxes } = client()
    const { id, status } = await devboxes.createAndAwaitRunning({
      launch_parameters: { resource_size_request: 'X_SMALL' },
    })
    expect(status).toBe('running')
    await devboxes.suspend(id)
    expect((await devboxes.awaitSuspended(id)).status).toBe('suspended')
    await devboxes.resume(id)
    expect((await devboxes.awaitRunning(id)).status).toBe('running')
    expect(await devboxes.keepAlive(id)).toBeDefined()
    for (let i = 0; i < 2; i++) expect((await devboxes.shutdown(id)).status).toBe('shutdown')
    const failing = await devboxes.create({ launch_parameters: { launch_commands: ['exit 1'] } })
    await expect(devboxes.awaitRunning(failing.id)).rejects.toThrow('failure')
  })

  it('lists devboxes and watches evictions', async () => {
    const devbox = await client().devboxes.createAndAwaitRunning({ name: 'from outside', metadata: { from: 'test' } })
    expect(devbox.status).toBe('running')
    const listed = await client().devboxes.list({ status: 'running' })
    expect(listed.devboxes.map(({ id }) => id)).toContain(devbox.id)

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
