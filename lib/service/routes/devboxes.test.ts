import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { command, makeScenario } from '#lib/service/testing/scenarios.ts'
import { startService, statusOf, type TestService } from '#lib/service/testing/service.ts'

describe('devboxes', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ isolation: strongestIsolation })
  })
  afterAll(() => service.close())

  const reach: TestService['reach'] = (...call) => service.reach(...call)
  const run: TestService['run'] = (...call) => service.run(...call)
  const create = async (body: DevboxCreate = {}) => {
    const { id } = await service.client.devboxes.create({ body })
    await reach(id, 'running')
    return id
  }

  it('starts as provisioning, then initializing, then running', async () => {
    const created = await service.client.devboxes.create({ body: { name: 'first', metadata: { env: 'prod' } } })
    expect(created).toMatchObject({
      status: 'provisioning',
      name: 'first',
      metadata: { env: 'prod' },
      end_time_ms: null,
    })
    const devbox = await reach(created.id, 'running')
    expect(devbox.state_transitions.map(({ status }) => status)).toEqual(['provisioning', 'initializing', 'running'])
    expect(devbox.launch_parameters.keep_alive_time_seconds).toBe(3600)
  })

  it('queues devboxes of the flex tier', async () => {
    const body = { launch_parameters: { provisioning_tier: 'flex' as const } }
    const devbox = await service.client.devboxes.createAndAwaitRunning({ body })
    expect(devbox.state_transitions.map(({ status }) => status)).toEqual([
      'queued',
      'provisioning',
      'initializing',
      'running',
    ])
  })

  it('fails when a launch command fails', async () => {
    const { id } = await service.client.devboxes.create({
      body: { launch_parameters: { launch_commands: ['exit 3', 'touch ~/no'] } },
    })
    const failed = await reach(id, 'failure')
    expect(failed.failure_reason).toBe('execution_failed')
    expect(failed.end_time_ms).toBeGreaterThan(0)
    expect(await statusOf(run(id, 'true'))).toBe(400)
  })

  it('runs an entrypoint of any length and exit status, but rejects NUL', async () => {
    const { id } = await service.client.devboxes.create({ body: { entrypoint: `: ${'x'.repeat(200_000)}; exit 7` } })
    expect((await reach(id, 'shutdown', 'failure')).shutdown_reason).toBe('entrypoint_exit')
    await expect(service.client.devboxes.create({ body: { entrypoint: 'a\0b' } })).rejects.toMatchObject({
      status: 400,
      field: 'entrypoint',
    })
  })

  it('mounts files only below the home directory and /tmp', async () => {
    const id = await create({
      file_mounts: { 'a/b.txt': 'one ', '~/c.txt': 'two ', '/home/user/./d//e': 'three ' },
      mounts: [
        { type: 'file_mount', target: '~/a/f', content: 'four ' },
        { type: 'file_mount', target: '/tmp/g/h', content: 'five' },
      ],
    })
    expect((await run(id, 'cat ~/a/b.txt ~/c.txt ~/d/e ~/a/f "$TMPDIR/g/h"')).stdout).toBe('one two three four five')
    const folders = readdirSync(join(service.dataDir, 'devboxes'))
    const invalidPaths = [
      '../x',
      '/etc/x',
      '/tmp',
      '/tmp/../etc/x',
      '/home/other/x',
      'a/../../x',
      '.',
      '~',
      '',
      'a/',
      'a\0b',
    ]
    for (const paths of [...invalidPaths.map((path) => [path]), ['a', 'a/b'], ['a/b', 'a'], ['x'.repeat(300)]])
      await expect(
        service.client.devboxes.create({ body: { file_mounts: Object.fromEntries(paths.map((path) => [path, ''])) } }),
      ).rejects.toMatchObject({ status: 400, field: 'file_mounts' })
    for (const [mount, status, field] of [
      [{ type: 'file_mount', target: '/etc/x', content: '' }, 400, 'mounts[0]'],
      [{ type: 'file_mount', target: 'x' }, 400, 'mounts[0]'],
      [{ type: 'swamp_mount' }, 400, 'mounts[0].type'],
      [null, 400, 'mounts[0].type'],
      [{ type: 'object_mount', object_id: 'o', object_path: 'p' }, 400, 'mounts[0].object_id'],
      [{ type: 'object_mount', object_id: 'o' }, 400, 'mounts[0]'],
      [{ type: 'broker_mount', axon_id: 'axn_1' }, 501, 'mounts[0].type'],
    ] as const)
      await expect(service.client.devboxes.create({ body: { mounts: [mount] } })).rejects.toMatchObject({
        status,
        field,
      })
    expect(readdirSync(join(service.dataDir, 'devboxes'))).toEqual(folders)
  })

  it('rejects invalid and unsupported fields by name', async () => {
    const launch = (launch_parameters: DevboxCreate['launch_parameters']) => ({ launch_parameters })
    const rejected: [DevboxCreate, status: number, field?: string][] = [
      [{ environment_variables: { 'A B': '' } }, 400, 'environment_variables.A B'],
      [{ secrets: { 'A-B': 'X' } }, 400, 'secrets.A-B'],
      [{ secrets: { A: 'NO_SUCH_SECRET' } }, 400, 'secrets'],
      [{ snapshot_id: 'snp_none' }, 404],
      [{ snapshot_id: 'snp_none', blueprint_id: 'bpt_1' }, 400, 'snapshot_id'],
      [{ blueprint_id: 'bpt_1', blueprint_name: 'x' }, 400, 'blueprint_name'],
      [{ blueprint_id: 'bpt_1' }, 404],
      [{ blueprint_name: 'none' }, 404, 'blueprint_name'],
      [{ code_mounts: [{ repo_name: 'a', repo_owner: 'b' }] }, 501, 'code_mounts'],
      [{ gateways: { G: { gateway: 'g', secret: 's' } } }, 501, 'gateways'],
      [{ mcp: { M: { mcp_config: 'm', secret: 's' } } }, 501, 'mcp'],
      [launch({ custom_cpu_cores: 3 }), 400, 'launch_parameters.custom_cpu_cores'],
      [launch({ keep_alive_time_seconds: 172_801 }), 400, 'launch_parameters.keep_alive_time_seconds'],
      [launch({ network_policy_id: 'npl_none' }), 400, 'launch_parameters.network_policy_id'],
      [launch({ required_services: ['redis'] }), 501, 'launch_parameters.required_services'],
    ]
    for (const [body, status, field] of rejected)
      await expect(service.client.devboxes.create({ body }), JSON.stringify(body)).rejects.toMatchObject({
        status,
        ...(field && { field }),
      })
    await create({ blueprint_id: '', code_mounts: [], mounts: [], gateways: {}, mcp: null, secrets: {} })
  })

  it('gives commands a clean environment with the variables of the devbox', async () => {
    // A bash with both of the last two would exit immediately.
    const id = await create({
      environment_variables: { GREETING: "it's $HOME\nand more", LD_PRELOAD: '', POSIXLY_CORRECT: '1', UID: '7' },
    })
    const { stdout } = await run(id, 'env -0')
    const env = Object.fromEntries(
      stdout
        .split('\0')
        .filter(Boolean)
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
    expect(env.GREETING).toBe("it's $HOME\nand more")
    expect(env.USER).toBe('user')
    expect(stdout).not.toContain(service.key)
    for (const name of Object.keys(env)) expect(name).not.toMatch(/^(NODE_|VITEST|npm_|DEVDECK_API|DEVDECK_SET_)/)
  })

  it('keeps the home directory but no processes when suspended and resumed', async () => {
    const id = await create()
    const marker = `sleep ${process.pid}77`
    await run(id, `echo kept > ~/file; ${marker} &`)
    expect((await run(id, `pgrep -fx '${marker}'`)).exit_status).toBe(0)
    expect((await service.client.devboxes.suspend({ params: { id } })).status).toBe('suspending')
    await reach(id, 'suspended')
    await expect(run(id, 'true')).rejects.toMatchObject({
      status: 400,
      message: 'The devbox is suspended; it needs to be running',
    })
    expect(await statusOf(service.client.devboxes.suspend({ params: { id } }))).toBe(400)
    expect((await service.client.devboxes.resume({ params: { id } })).status).toBe('provisioning')
    await reach(id, 'running')
    expect((await run(id, 'cat ~/file')).stdout).toBe('kept\n')
    expect((await run(id, `pgrep -fx '${marker}'`)).exit_status).toBe(1)
  })

  it('shuts down immediately and repeatedly', async () => {
    const id = await create()
    const execution = await service.client.executions.executeAsync({ params: { id }, body: { command: 'sleep 1000' } })
    const ended = await service.client.devboxes.shutdown({ params: { id } })
    expect(ended).toMatchObject({ status: 'shutdown', shutdown_reason: 'api_shutdown' })
    expect(ended.end_time_ms).toBeGreaterThan(0)
    expect((await service.client.devboxes.shutdown({ params: { id } })).end_time_ms).toBe(ended.end_time_ms)
    const params = { devbox_id: id, execution_id: execution.execution_id }
    expect(await service.client.executions.get({ params })).toMatchObject({ status: 'completed', exit_status: 137 })
  })

  it('returns 408 with x-should-retry when a wait times out', async () => {
    const id = await create()
    const response = await service.post(`/v1/devboxes/${id}/wait_for_status`, {
      statuses: ['suspended'],
      timeout_seconds: 0,
    })
    expect(response.status).toBe(408)
    expect(response.headers.get('x-should-retry')).toBe('true')
    await service.client.devboxes.shutdown({ params: { id } })
    const ended = await service.post(`/v1/devboxes/${id}/wait_for_status`, {
      statuses: ['running'],
      timeout_seconds: 0,
    })
    expect([ended.status, ended.headers.get('x-should-retry')]).toEqual([408, 'true'])
  })

  it('lists pages by status, name and metadata, newest first', async () => {
    const [a, b, c] = [
      await create({ name: 'alpha-one', metadata: { team: 'x', tier: '1' } }),
      await create({ name: 'alpha-two', metadata: { team: 'y' } }),
      await create({ name: 'beta', metadata: { team: 'x' } }),
    ]
    const list = async (query: object) => (await service.client.devboxes.list({ query })).devboxes.map(({ id }) => id)
    expect(await list({ name: 'alpha' })).toEqual([b, a])
    expect(await list({ metadata: [{ key: 'team', op: 'eq', value: 'x' }] })).toEqual([c, a])
    expect(await list({ metadata: [{ key: 'team', op: 'in', values: ['x', 'y'] }], name: 'alpha' })).toEqual([b, a])
    expect(await list({ search: a })).toEqual([a])
    await service.client.devboxes.suspend({ params: { id: b } })
    await reach(b, 'suspended')
    expect(await list({ status: 'suspended', name: 'alpha' })).toEqual([b])
    const page = await service.client.devboxes.list({
      query: { metadata: [{ key: 'team', op: 'eq', value: 'x' }], limit: 1 },
    })
    expect(page).toMatchObject({ has_more: true, total_count: 2 })
    expect(await list({ metadata: [{ key: 'team', op: 'eq', value: 'x' }], limit: 1, starting_after: c })).toEqual([a])
    expect((await service.client.devboxes.metadataKeys()).keys).toEqual(expect.arrayContaining(['team', 'tier']))
    expect(await statusOf(list({ starting_after: 'dbx_none' }))).toBe(400)
    const valuesOf = async (key: string, client = service.client) =>
      (await client.devboxes.metadataValues({ params: { key } })).values
    expect(await valuesOf('team')).toEqual(['x', 'y'])
    expect(await valuesOf('no such key')).toEqual([])
    expect(await valuesOf('team', service.otherClient)).toEqual([])
  })

  it('filters and counts by origin', async () => {
    const own = await create({ name: 'origin own' })
    const scenario_id = await makeScenario(service, command('true'))
    const run = await service.client.scenarioRuns.start({ body: { scenario_id, run_name: 'origin trial' } })
    const list = async (query: object) => {
      const { devboxes, total_count } = await service.client.devboxes.list({ query: { name: 'origin ', ...query } })
      return [devboxes.map(({ id }) => id), total_count]
    }
    expect(await list({})).toEqual([[run.devbox_id, own], 2])
    expect(await list({ origin: 'own', limit: 1 })).toEqual([[own], 1])
    expect(await list({ origin: 'trial', limit: 1 })).toEqual([[run.devbox_id], 1])
    expect(await list({ origin: 'own', starting_after: run.devbox_id })).toEqual([[own], 1])
    expect(await statusOf(list({ origin: 'other' }))).toBe(400)
    await service.client.scenarioRuns.cancel({ params: { id: run.id } })
  })

  it('updates name and metadata, clears empty ones and keeps missing ones', async () => {
    const id = await create({ name: 'before', metadata: { a: '1' } })
    const update = (body: { name?: string; metadata?: Record<string, string> }) =>
      service.client.devboxes.update({ params: { id }, body })
    expect(await update({ metadata: { b: '2' } })).toMatchObject({ name: 'before', metadata: { b: '2' } })
    expect(await update({ name: '', metadata: {} })).toMatchObject({ name: null, metadata: {} })
    expect(await update({})).toMatchObject({ name: null, metadata: {} })
  })
})
