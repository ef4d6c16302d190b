import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BlueprintCreate, BlueprintListQuery } from '#lib/contract/blueprints.ts'
import { bubblewrapProblem } from '#lib/service/engine/bubblewrap/bubblewrap.ts'
import { command, scenarioOf } from '#lib/service/testing/scenarios.ts'
import { startService, statusOf, type TestService } from '#lib/service/testing/service.ts'

const isIsolated = (await bubblewrapProblem()) === undefined

it('are refused without isolation', async () => {
  const service = await startService({ isolation: 'none' })
  await expect(service.client.blueprints.create({ body: { name: 'x' } })).rejects.toMatchObject({
    status: 501,
    message: 'Blueprints need bubblewrap or a container engine on this host',
  })
  await service.close()
})

describe.runIf(isIsolated)('blueprints', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.close())

  const create = (body: Partial<BlueprintCreate>) => service.client.blueprints.create({ body: { name: 'x', ...body } })
  const get = (id: string) => service.client.blueprints.get({ params: { id } })
  const ended = async (id: string) => {
    for await (const _ of service.client.blueprints.tailLogs({ params: { id } }));
    return get(id)
  }
  const remove = (id: string) => service.client.blueprints.delete({ params: { id } })

  it('returns the queued build with its parameters, and its result later', async () => {
    const body = {
      name: 'web',
      metadata: { team: 'a' },
      launch_parameters: { resource_size_request: 'X_SMALL' as const, launch_commands: ['echo launched'] },
    }
    const created = await create(body)
    expect(created).toMatchObject({
      id: expect.stringMatching(/^bpt_/),
      name: 'web',
      state: 'created',
      status: expect.stringMatching(/^(queued|building)$/),
      parameters: body,
      metadata: { team: 'a' },
      is_public: false,
    })
    expect(await ended(created.id)).toMatchObject({
      status: 'build_complete',
      build_finish_time_ms: expect.any(Number),
    })
    const devbox = await service.client.devboxes.createAndAwaitRunning({
      body: { blueprint_name: 'web', launch_parameters: { keep_alive_time_seconds: 60 } },
    })
    expect(devbox).toMatchObject({
      blueprint_id: created.id,
      launch_parameters: { ...body.launch_parameters, keep_alive_time_seconds: 60 },
    })
    await service.client.devboxes.shutdown({ params: { id: devbox.id } })
  })

  it('uses the latest complete build of a name', async () => {
    const ids: string[] = []
    for (const command of ['echo 1 >n', 'echo 2 >n', 'false']) {
      const { id } = await create({ name: 'counted', system_setup_commands: [command] })
      await ended(id)
      ids.push(id)
    }
    const devbox = await service.client.devboxes.createAndAwaitRunning({ body: { blueprint_name: 'counted' } })
    expect(devbox.blueprint_id).toBe(ids[1])
    expect((await service.run(devbox.id, 'cat n')).stdout).toBe('2\n')
    const list = async (query: Partial<BlueprintListQuery>) => {
      const { blueprints, ...page } = await service.client.blueprints.list({ query })
      return { ids: blueprints.map(({ id }) => id), ...page }
    }
    expect(await list({ name: 'counted', limit: 2 })).toEqual({
      ids: [ids[2], ids[1]],
      has_more: true,
      total_count: 3,
    })
    expect((await list({ name: 'counted', limit: 2, starting_after: ids[1] as string })).ids).toEqual([ids[0]])
    expect((await list({ name: 'counted', status: 'failed' })).ids).toEqual([ids[2]])
    expect((await list({ name: 'count' })).ids).toEqual([])
    expect((await list({ search: 'OUNTE' })).ids).toEqual(ids.toReversed())
    await service.client.devboxes.shutdown({ params: { id: devbox.id } })
  })

  it('filters by metadata and lists its keys and values', async () => {
    const { id } = await create({ metadata: { stage: 'test' } })
    const query = { metadata: [{ key: 'stage', op: 'eq' as const, value: 'test' }] }
    expect((await service.client.blueprints.list({ query })).blueprints.map((each) => each.id)).toEqual([id])
    expect((await service.client.blueprints.metadataKeys({})).keys).toContain('stage')
    expect(await service.client.blueprints.metadataValues({ params: { key: 'stage' } })).toMatchObject({
      values: ['test'],
    })
    await remove(id)
    expect((await service.client.blueprints.metadataKeys({})).keys).not.toContain('stage')
    expect((await service.client.blueprints.list({ query })).total_count).toBe(0)
    expect(await remove(id)).toEqual({})
    expect(await get(id)).toMatchObject({ state: 'deleted' })
    expect((await service.client.blueprints.listPublic({})).blueprints).toEqual([])
  })

  it('gives its devboxes to scenario runs', async () => {
    const { id } = await create({ system_setup_commands: ['echo ready >state'] })
    await ended(id)
    const scenario = await service.client.scenarios.create({
      body: {
        ...scenarioOf(command('grep -q ready ~/state && echo 1.0')),
        environment_parameters: { blueprint_id: id },
      },
    })
    const run = await service.client.scenarioRuns.start({ body: { scenario_id: scenario.id } })
    expect((await service.reach(run.devbox_id ?? '', 'running')).blueprint_id).toBe(id)
    await expect(remove(id)).rejects.toMatchObject({ status: 400 })
    await service.client.scenarioRuns.cancel({ params: { id: run.id } })
  })

  it('previews the Dockerfile without a build', async () => {
    const { total_count } = await service.client.blueprints.list({})
    const { dockerfile } = await service.client.blueprints.preview({
      body: { name: 'x', dockerfile: 'FROM debian:12', system_setup_commands: ['echo hi'] },
    })
    expect(dockerfile).toMatch(/^FROM debian:12\n[\s\S]*^RUN echo hi$/m)
    expect((await service.client.blueprints.list({})).total_count).toBe(total_count)
  })

  it('belong to their account', async () => {
    const { id } = await create({})
    const other = service.otherClient
    for (const call of [
      () => other.blueprints.get({ params: { id } }),
      () => other.blueprints.logs({ params: { id } }),
      () => other.blueprints.delete({ params: { id } }),
      () => other.blueprints.create({ body: { name: 'x', base_blueprint_id: id } }),
      () => other.devboxes.create({ body: { blueprint_id: id } }),
    ])
      expect(await statusOf(call())).toBe(404)
    expect((await other.blueprints.list({})).blueprints).toEqual([])
  })

  it.each<[Partial<BlueprintCreate>, status: number, field: string | undefined]>([
    [{ name: '' }, 400, 'name'],
    [{ base_blueprint_id: 'bpt_none' }, 404, undefined],
    [{ base_blueprint_name: 'none' }, 404, 'base_blueprint_name'],
    [{ base_blueprint_id: 'a', base_blueprint_name: 'b' }, 400, 'base_blueprint_name'],
    [{ file_mounts: { 'a/': '' } }, 400, 'file_mounts'],
    [{ system_setup_commands: ['ok', 'a\0b'] }, 400, 'system_setup_commands[1]'],
    [{ launch_parameters: { custom_cpu_cores: 3 } }, 400, 'launch_parameters.custom_cpu_cores'],
    [{ secrets: { A: 'NONE' } }, 400, 'secrets'],
    [{ network_policy_id: 'npl_none' }, 400, 'network_policy_id'],
    [{ code_mounts: [{ repo_owner: 'a', repo_name: 'b/c' }] }, 400, 'code_mounts.0.repo_name'],
    [{ code_mounts: [{ repo_owner: 'a', repo_name: 'b', token: 't' }] }, 501, 'code_mounts[0].token'],
    [{ services: [{ name: 'db', image: 'postgres' }] }, 501, 'services'],
  ])('rejects %j', async (body, status, field) => {
    await expect(create(body)).rejects.toMatchObject({ status, ...(field && { field }) })
  })
})
