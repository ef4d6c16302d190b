import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { command, devboxReaches, makeScenario, runReaches, script, startRun } from '#lib/service/testing/scenarios.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

const ending = 'sleep infinity'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: strongestIsolation })
})
afterAll(() => service.close())

const runs = () => service.client.scenarioRuns
const execute = async (id: string, text: string) =>
  (await service.client.executions.executeSync({ params: { id }, body: { command: text } })).stdout
const state = async (id: string) => (await runs().get({ params: { id } })).state
const scoringState = async (id: string) => {
  await runs().score({ params: { id } })
  return (await runReaches(service, id, 'scored', 'running')).state
}

describe('POST /v1/scenarios/start_run', () => {
  it('200 while its devbox is starting', async () => {
    await service.client.secrets.create({ body: { name: 'TOKEN', value: 'hush' } })
    const scenario = await makeScenario(service, command('true'), {
      name: 'custom',
      environment_parameters: {
        working_directory: 'work',
        launch_parameters: { keep_alive_time_seconds: 60, launch_commands: ['echo 1 >>order'] },
      },
    })
    const run = await runs().start({
      body: {
        scenario_id: scenario,
        run_name: 'named',
        metadata: { k: 'v' },
        runProfile: {
          purpose: 'to see',
          envVars: { A: 'x y' },
          secrets: { T: 'TOKEN' },
          launchParameters: {
            keep_alive_time_seconds: 600,
            launch_commands: ['echo 2 >>order', 'until [ -e go ]; do sleep 0.02; done'],
          },
          mounts: [{ type: 'file_mount', target: 'mounted', content: 'there' }],
        },
      },
    })
    expect(run).toMatchObject({
      scenario_id: scenario,
      state: 'running',
      name: 'named',
      purpose: 'to see',
      metadata: { k: 'v' },
      environment_variables: { A: 'x y' },
      secrets_provided: { T: 'TOKEN' },
      duration_ms: null,
      benchmark_run_id: null,
      scoring_contract_result: null,
    })
    expect(run.id).toMatch(/^scr_/)
    // The response comes while the devbox is still preparing, until the test releases it.
    const devbox = await devboxReaches(service, run.devbox_id, 'initializing')
    expect(devbox.status).toBe('initializing')
    expect(devbox).toMatchObject({ name: 'named', initiator_type: 'scenario', initiator_id: run.id })
    expect(devbox.launch_parameters.keep_alive_time_seconds).toBe(600)
    writeFileSync(join(service.dataDir, 'devboxes', run.devbox_id, 'home', 'go'), '')
    await devboxReaches(service, run.devbox_id, 'running')
    expect(await execute(run.devbox_id, 'cat order mounted; ls -d work; echo "$A $T"')).toBe(
      '1\n2\nthere' + 'work\nx y hush\n',
    )
    await runs().cancel({ params: { id: run.id } })
  })

  it('200 from a snapshot', async () => {
    const source = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    await execute(source.id, 'echo kept >file')
    const snapshot = await service.client.snapshots.create({ params: { id: source.id }, body: {} })
    const scenario = await makeScenario(service, command('grep kept file'), {
      environment_parameters: { snapshot_id: snapshot.id },
    })
    const { id } = await startRun(service, scenario)
    expect(await scoringState(id)).toBe('scored')
    expect((await runs().complete({ params: { id } })).scoring_contract_result?.score).toBe(1)
    await service.client.devboxes.shutdown({ params: { id: source.id }, query: {} })
  })

  it('400 naming everything that is missing', async () => {
    const scenario = await makeScenario(service, command('true'), {
      required_environment_variables: ['A', 'B'],
      required_secret_names: ['TOKEN'],
    })
    const before = (await service.client.devboxes.list({ query: {} })).total_count
    const start = (runProfile: object) => runs().start({ body: { scenario_id: scenario, runProfile } })
    await expect(start({ envVars: { A: '' }, secrets: { X: 'missing' } })).rejects.toMatchObject({
      status: 400,
      message:
        'runProfile.envVars: must include B; runProfile.secrets: must include secret TOKEN; runProfile.secrets: secret missing does not exist',
    })
    expect((await service.client.devboxes.list({ query: {} })).total_count).toBe(before)
  })

  it('400 for an archived scenario, 404 for an unknown one', async () => {
    const id = await makeScenario(service, command('true'))
    const start = (runProfile: object) => runs().start({ body: { scenario_id: id, runProfile } })
    await expect(start({ mounts: [{ type: 'code_mount' }] })).rejects.toMatchObject({ status: 501 })
    await expect(start({ envVars: { 'A B': '' } })).rejects.toMatchObject({ status: 400 })
    expect((await runs().ofScenario({ params: { id }, query: {} })).total_count).toBe(0)
    await service.client.scenarios.archive({ params: { id } })
    await expect(start({})).rejects.toMatchObject({ status: 400, field: 'scenario_id' })
    await expect(runs().start({ body: { scenario_id: 'scn_none' } })).rejects.toMatchObject({ status: 404 })
  })
})

describe('POST /v1/scenarios/runs/{id}/score', () => {
  it('200 before the devbox runs, and again later', async () => {
    const scenario = await makeScenario(service, command('test -e done'))
    const { id, devbox_id } = await runs().start({ body: { scenario_id: scenario } })
    expect(await runs().score({ params: { id } })).toMatchObject({ state: 'scoring', scoring_contract_result: null })
    const first = await runReaches(service, id, 'scored')
    expect([first.state, first.scoring_contract_result?.score]).toEqual(['scored', 0])
    await execute(devbox_id, 'touch done')
    expect(await runs().score({ params: { id } })).toMatchObject({ state: 'scoring', scoring_contract_result: null })
    expect((await runReaches(service, id, 'scored')).scoring_contract_result?.score).toBe(1)
    expect(await runs().complete({ params: { id } })).toMatchObject({ state: 'completed' })
  })

  it('409 during scoring and after the end, without a retry', async () => {
    const { id } = await startRun(service, await makeScenario(service, command(ending)))
    const score = () => service.fetch(`/v1/scenarios/runs/${id}/score`, { method: 'POST' })
    await score()
    const again = await score()
    expect([
      again.status,
      again.headers.get('x-should-retry'),
      ((await again.json()) as { message: string }).message,
    ]).toEqual([409, 'false', 'The scenario run is scoring; it needs to be running or scored'])
    await expect(runs().complete({ params: { id } })).rejects.toMatchObject({ status: 409 })
    await runs().cancel({ params: { id } })
    expect((await score()).status).toBe(409)
  })

  it('has no score if the devbox is suspended, and one after it resumes', async () => {
    const scenario = await makeScenario(service, command('touch began; test -e done || sleep infinity'))
    const { id, devboxId } = await startRun(service, scenario)
    await runs().score({ params: { id } })
    while ((await execute(devboxId, 'ls began 2>&1')) !== 'began\n');
    await service.client.devboxes.suspend({ params: { id: devboxId } })
    expect(await runReaches(service, id, 'scored', 'running')).toMatchObject({
      state: 'running',
      scoring_contract_result: null,
    })
    await devboxReaches(service, devboxId, 'suspended')
    await expect(runs().score({ params: { id } })).rejects.toMatchObject({ status: 400 })
    await service.client.devboxes.resume({ params: { id: devboxId } })
    await devboxReaches(service, devboxId, 'running')
    await execute(devboxId, 'touch done')
    expect(await scoringState(id)).toBe('scored')
    await runs().cancel({ params: { id } })
  })
})

describe('POST /v1/scenarios/runs/{id}/complete and /cancel', () => {
  it('200 repeatedly, and 409 for the other', async () => {
    const scenario = await makeScenario(service, command('true'))
    for (const [action, other, end] of [
      ['complete', 'cancel', 'completed'],
      ['cancel', 'complete', 'canceled'],
    ] as const) {
      const { id, devboxId } = await startRun(service, scenario)
      const both = await Promise.all([runs()[action]({ params: { id } }), runs()[action]({ params: { id } })])
      expect(both.map(({ state }) => state)).toEqual([end, end])
      expect((await devboxReaches(service, devboxId)).status).toBe('shutdown')
      const [first] = both
      expect(first.duration_ms).toBeGreaterThan(0)
      expect(await runs()[action]({ params: { id } })).toEqual(first)
      await expect(runs()[other]({ params: { id } })).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining(`The scenario run is ${end}`),
      })
    }
  })
})

describe('a run whose devbox ends on its own', () => {
  it('has failed', async () => {
    const broken = await makeScenario(service, command('true'), {
      environment_parameters: { launch_parameters: { launch_commands: ['exit 1'] } },
    })
    const { id } = await runs().start({ body: { scenario_id: broken } })
    expect((await runReaches(service, id)).state).toBe('failed')
    const other = await startRun(service, await makeScenario(service, command('true')))
    await service.client.devboxes.shutdown({ params: { id: other.devboxId }, query: {} })
    expect(await runs().get({ params: { id: other.id } })).toMatchObject({ state: 'failed' })
  })

  it('completes if it was scored', async () => {
    const { id, devboxId } = await startRun(service, await makeScenario(service, command('true')))
    expect(await scoringState(id)).toBe('scored')
    await service.client.devboxes.shutdown({ params: { id: devboxId }, query: {} })
    expect(await runs().get({ params: { id } })).toMatchObject({
      state: 'completed',
      scoring_contract_result: { score: 1 },
    })
  })
})

describe('after a restart of the service', () => {
  it('runs continue, and interrupted scoring is repeated', async () => {
    const slow = await makeScenario(
      service,
      script('echo x >>starts; [[ $(wc -l <starts) = 1 ]] && sleep infinity; echo score=0.5'),
    )
    const scoring = await startRun(service, slow)
    await runs().score({ params: { id: scoring.id } })
    while ((await execute(scoring.devboxId, 'cat starts 2>&1')) !== 'x\n');
    const working = await startRun(service, await makeScenario(service, command('true')))
    await service.restart()
    expect(await state(working.id)).toBe('running')
    expect(await runReaches(service, scoring.id, 'scored')).toMatchObject({
      state: 'scored',
      scoring_contract_result: { score: 0.5 },
    })
    await devboxReaches(service, working.devboxId, 'running')
    expect(await scoringState(working.id)).toBe('scored')
    for (const { id } of [scoring, working]) await runs().complete({ params: { id } })
  })

  it('devboxes of ended or unknown runs are shut down', async () => {
    const scenario = await makeScenario(service, command('true'))
    const [ended, unstored, failed] = [
      await startRun(service, scenario),
      await startRun(service, scenario),
      await startRun(service, scenario),
    ]
    const database = new DatabaseSync(join(service.dataDir, 'devdeck.db'))
    database.prepare("UPDATE scenario_runs SET state = 'canceled', end_time_ms = 1 WHERE id = ?").run(ended.id)
    database.prepare('DELETE FROM scenario_runs WHERE id = ?').run(unstored.id)
    database.prepare("UPDATE devboxes SET status = 'failure' WHERE id = ?").run(failed.devboxId)
    database.close()
    await service.restart()
    for (const { devboxId } of [ended, unstored])
      expect((await devboxReaches(service, devboxId)).status).toBe('shutdown')
    expect(await state(failed.id)).toBe('failed')
  })
})

it.runIf(strongestIsolation === 'bubblewrap')('works in its own folder at /', async () => {
  const scenario = await makeScenario(service, command('test "$PWD" = /testbed/repo && test -e /testbed/made'), {
    environment_parameters: { working_directory: '/testbed/repo' },
  })
  const { id, devboxId } = await startRun(service, scenario)
  await execute(devboxId, 'touch /testbed/made')
  expect(await scoringState(id)).toBe('scored')
  expect((await runs().complete({ params: { id } })).scoring_contract_result?.score).toBe(1)
})

describe('GET /v1/scenarios/runs', () => {
  it('200 by scenario, name, search, state and metadata, newest first', async () => {
    const { client, otherClient } = service
    const [one, two] = [await makeScenario(service, command('true')), await makeScenario(service, command('true'))]
    const made: string[] = []
    for (const [scenario_id, run_name, tier] of [
      [one, 'first run', 'a'],
      [one, 'second', 'b'],
      [two, 'third run', 'a'],
    ] as const)
      made.push((await client.scenarioRuns.start({ body: { scenario_id, run_name, metadata: { tier } } })).id)
    const [first = '', second = '', third = ''] = made
    await client.scenarioRuns.cancel({ params: { id: second } })
    const ids = async (query: object) => (await client.scenarioRuns.list({ query })).runs.map(({ id }) => id)
    expect(await ids({ limit: 3 })).toEqual([third, second, first])
    expect(await ids({ scenario_id: one })).toEqual([second, first])
    expect(await ids({ name: 'run' })).toEqual([third, first])
    expect(await ids({ search: second })).toEqual([second])
    expect(await ids({ state: 'canceled', limit: 1 })).toEqual([second])
    expect(await ids({ metadata: [{ key: 'tier', op: 'in', values: ['a', 'z'] }] })).toEqual([third, first])
    expect(await ids({ limit: 1, starting_after: third })).toEqual([second])
    const ofScenario = await client.scenarioRuns.ofScenario({ params: { id: one }, query: { limit: 1 } })
    expect([ofScenario.runs.map(({ id }) => id), ofScenario.has_more, ofScenario.total_count]).toEqual([
      [second],
      true,
      2,
    ])
    await expect(ids({ starting_after: 'scr_none' })).rejects.toMatchObject({ status: 400 })

    expect((await otherClient.scenarioRuns.list({ query: {} })).total_count).toBe(0)
    const params = { id: first }
    for (const action of ['get', 'score', 'complete', 'cancel'] as const)
      await expect(otherClient.scenarioRuns[action]({ params })).rejects.toMatchObject({ status: 404 })
    expect((await client.scenarioRuns.get({ params })).state).toBe('running')
    for (const id of [first, third]) await client.scenarioRuns.cancel({ params: { id } })
  })
})
