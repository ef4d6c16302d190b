import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { startService, statusOf, type TestService } from '#lib/service/testing/service.ts'

describe('secrets', () => {
  let service: TestService
  beforeEach(async () => {
    service = await startService()
  })
  afterEach(() => service.close())

  const create = (name: string, value = 'hidden') => service.client.secrets.create({ body: { name, value } })
  const get = (name: string) => service.client.secrets.get({ params: { name } })

  it('are stored by name, and their values are never returned', async () => {
    const created = await create('TOKEN', 'first value')
    expect(Object.keys(created).sort()).toEqual(['create_time_ms', 'id', 'name', 'update_time_ms'])
    expect(created).toMatchObject({ name: 'TOKEN', update_time_ms: created.create_time_ms })
    expect(created.id).toMatch(/^sec_/)
    expect(await get('TOKEN')).toEqual(created)
    const updated = await service.client.secrets.update({ params: { name: 'TOKEN' }, body: { value: 'second value' } })
    expect(updated).toEqual({ ...created, update_time_ms: updated.update_time_ms })
    expect(updated.update_time_ms).toBeGreaterThanOrEqual(created.update_time_ms)
    expect(await service.client.secrets.delete({ params: { name: 'TOKEN' } })).toEqual(updated)
    expect(await statusOf(get('TOKEN'))).toBe(404)
  })

  it('reject a taken name with 409', async () => {
    await create('TAKEN')
    const response = await service.post('/v1/secrets', { name: 'TAKEN', value: 'x' })
    expect(response.status).toBe(409)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await response.json()).toMatchObject({ code: 'conflict', field: 'name' })
    await create('taken')
  })

  it('accept letters, digits, _ and - in names, and values of environment variables', async () => {
    for (const name of ['', 'A.B', 'A B', 'É', 'A'.repeat(257)])
      await expect(create(name)).rejects.toMatchObject({ status: 400, field: 'name' })
    for (const name of [`_${'a1'.repeat(127)}X`, 'my-api-key', '1A', '-A'])
      expect(await create(name)).toEqual(await get(name))
    await expect(create('NUL', 'a\0b')).rejects.toMatchObject({ status: 400, field: 'value' })
    await expect(create('LONG', 'é'.repeat(32_769))).rejects.toMatchObject({ status: 400, field: 'value' })
    await create('LONG', 'é'.repeat(32_768))
    await create('EMPTY', '')
  })

  it('name what uses them, until it ends', async () => {
    const { client } = service
    const { id } = await create('TOKEN')
    await create('OTHER')
    const usage = async (name: string) => (await client.secrets.usage({ params: { name } })).users
    expect(await usage('TOKEN')).toEqual([])
    const devbox = await client.devboxes.create({
      body: { name: 'user', secrets: { ONE: 'TOKEN', TWO: 'TOKEN', THREE: 'OTHER' } },
    })
    const gateway = await client.gatewayConfigs.create({
      body: {
        name: 'gateway',
        endpoint: 'https://example.com',
        auth_mechanism: { type: 'bearer' },
        custom_headers: [{ name: 'x-key', secret: 'TOKEN' }],
      },
    })
    expect(await usage('TOKEN')).toEqual([
      { type: 'devbox', id: devbox.id, name: 'user', variables: ['ONE', 'TWO'] },
      { type: 'gateway_config', id: gateway.id, name: 'gateway', variables: ['x-key'] },
    ])
    expect(id).toBe((await client.gatewayConfigs.get({ params: { id: gateway.id } })).custom_headers?.[0]?.secret)
    await client.devboxes.shutdown({ params: { id: devbox.id } })
    expect(await usage('TOKEN')).toMatchObject([{ type: 'gateway_config' }])
    expect(await usage('OTHER')).toEqual([])
    expect(await statusOf(usage('ABSENT'))).toBe(404)
  })

  it('are listed newest first with a total count', async () => {
    expect(await service.client.secrets.list({ query: {} })).toEqual({ secrets: [], total_count: 0, has_more: false })
    for (let i = 0; i < 22; i++) await create(`S${i}`)
    const page = await service.client.secrets.list({ query: {} })
    expect(page).toMatchObject({ total_count: 22, has_more: true })
    expect(page.secrets.map(({ name }) => name)).toEqual(Array.from({ length: 20 }, (_, i) => `S${21 - i}`))
    const all = await service.client.secrets.list({ query: { limit: 22 } })
    expect(all).toMatchObject({ total_count: 22, has_more: false })
    expect(all.secrets.at(-1)?.name).toBe('S0')
    expect(await statusOf(service.client.secrets.list({ query: { limit: 5001 } }))).toBe(400)
  })

  it('do not appear in the data folder, the log or error messages', async () => {
    const value = 'unmistakable-7f3a'
    const log = vi.spyOn(process.stderr, 'write')
    await create('A', value)
    await service.client.secrets.update({ params: { name: 'A' }, body: { value: `${value}-second` } })
    const rejected = await service.fetch('/v1/secrets', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"name": "1", "value": "${value}"`,
    })
    expect(rejected.status).toBe(400)
    expect(await rejected.text()).not.toContain(value)
    await expect(create('A', value)).rejects.toThrow(/^((?!unmistakable).)*$/)
    await service.restart()
    expect(filesWith(service.dataDir, value)).toEqual([])
    expect(filesWith(service.dataDir, 'sec_')).toContain(join(service.dataDir, 'devdeck.db'))
    expect(JSON.stringify(log.mock.calls)).not.toContain(value)
    log.mockRestore()
    expect(statSync(join(service.dataDir, 'secrets-key')).mode & 0o777).toBe(0o600)
  })

  it('report a lost key, and get a new one once all are deleted', async () => {
    await create('KEPT')
    const key = join(service.dataDir, 'secrets-key')
    const original = readFileSync(key)
    rmSync(key)
    const log = vi.spyOn(process.stderr, 'write')
    await service.restart()
    expect(JSON.stringify(log.mock.calls)).toContain('key file')
    await expect(create('NEW')).rejects.toMatchObject({ status: 500, message: expect.stringContaining('is missing') })
    expect((await get('KEPT')).name).toBe('KEPT')

    writeFileSync(key, `${'0'.repeat(64)}\n`)
    await service.restart()
    expect(JSON.stringify(log.mock.calls)).toContain('is not its key')

    writeFileSync(key, original)
    log.mockClear()
    await service.restart()
    expect(JSON.stringify(log.mock.calls)).not.toContain('key')
    await create('NEW')
    log.mockRestore()

    rmSync(key)
    await service.restart()
    for (const name of ['KEPT', 'NEW']) await service.client.secrets.delete({ params: { name } })
    await create('AFRESH')
  })
})

describe('devbox secrets', () => {
  let devboxes: TestService
  beforeAll(async () => {
    devboxes = await startService({ isolation: strongestIsolation })
  })
  afterAll(() => devboxes.close())

  it('are set in the environment of commands, but never appear on disk or in a command line', async () => {
    const value = 'unmistakable-91cc'
    await devboxes.client.secrets.create({ body: { name: 'stored-key', value } })
    const { id, status } = await devboxes.client.devboxes.createAndAwaitRunning({
      body: { secrets: { GIVEN: 'stored-key' }, launch_parameters: { launch_commands: ['test "$GIVEN"'] } },
    })
    expect(status).toBe('running')
    const execute = (command: string, shell_name?: string) => devboxes.run(id, command, shell_name)
    expect((await execute('printf %s "$GIVEN" | wc -c')).stdout).toBe(`${value.length}\n`)
    expect((await execute('cd /; test "$GIVEN"', 'named')).exit_status).toBe(0)
    expect((await execute('test "$GIVEN" && pwd', 'named')).stdout).toBe('/\n')
    const running = await devboxes.client.executions.executeAsync({ params: { id }, body: { command: 'sleep 1000' } })
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      let line = ''
      try {
        line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        // Exited in the meantime.
      }
      expect(line).not.toContain(value)
    }
    expect(filesWith(devboxes.dataDir, value)).toEqual([])
    expect(JSON.stringify(await devboxes.client.devboxes.get({ params: { id } }))).not.toContain(value)
    expect(JSON.stringify(await devboxes.client.logs.list({ params: { id } }))).not.toContain(value)
    await devboxes.client.executions.kill({ params: { devbox_id: id, execution_id: running.execution_id }, body: {} })
  })

  it('are updated at the next start', async () => {
    const name = 'ROTATED'
    await devboxes.client.secrets.create({ body: { name, value: 'old' } })
    const { id } = await devboxes.client.devboxes.createAndAwaitRunning({ body: { secrets: { ROTATED: name } } })
    const printed = async () =>
      (await devboxes.client.executions.executeSync({ params: { id }, body: { command: 'echo "$ROTATED"' } })).stdout
    const reach = (status: 'running' | 'suspended') =>
      devboxes.client.devboxes.waitForStatus({ params: { id }, body: { statuses: [status] } })
    expect(await printed()).toBe('old\n')
    await devboxes.client.secrets.update({ params: { name }, body: { value: 'new' } })
    expect(await printed()).toBe('old\n')
    await devboxes.client.devboxes.suspend({ params: { id } })
    await reach('suspended')
    await devboxes.client.devboxes.resume({ params: { id } })
    await reach('running')
    expect(await printed()).toBe('new\n')
  })
})

const filesWith = (folder: string, text: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(text))
