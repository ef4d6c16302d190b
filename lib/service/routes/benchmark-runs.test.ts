import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { command, makeScenario, runReaches, script, startRun } from '#lib/service/testing/scenarios.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

const startBenchmarkRun = async (scores: readonly number[], more: object = {}) => {
  const scenarios: string[] = []
  for (const score of scores) scenarios.push(await makeScenario(service, script(`echo score=${score}`)))
  const benchmark = await service.client.benchmarks.create({ body: { name: 'b', scenario_ids: scenarios } })
  const { id } = await service.client.benchmarks.startRun({ body: { benchmark_id: benchmark.id, ...more } })
  return { id, benchmark: benchmark.id, scenarios }
}

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: strongestIsolation })
})
afterAll(() => service.close())

describe('the end of a benchmark run', () => {
  const startInStates = async (states: readonly ('completed' | 'scored' | 'scoring' | 'running' | 'starting')[]) => {
    const scores = states.map((_, i) => 1 / 2 ** i)
    const { id, scenarios } = await startBenchmarkRun(scores)
    const stuck = await makeScenario(service, command('sleep infinity'))
    const { benchmark_id } = await service.client.benchmarkRuns.get({ params: { id } })
    await service.client.benchmarks.changeScenarios({
      params: { id: benchmark_id ?? '' },
      body: { scenarios_to_add: [stuck] },
    })
    const { scenarioRuns } = service.client
    const started = []
    for (const [i, state] of states.entries()) {
      const scenario_id = (state === 'scoring' ? stuck : scenarios[i]) ?? ''
      if (state === 'starting') {
        const run = await scenarioRuns.start({ body: { scenario_id, benchmark_run_id: id } })
        started.push({ id: run.id, devboxId: run.devbox_id })
        continue
      }
      const run = await startRun(service, scenario_id, { benchmark_run_id: id })
      started.push(run)
      const params = { id: run.id }
      if (state !== 'running') await scenarioRuns.score({ params })
      if (state === 'scored' || state === 'completed') await runReaches(service, run.id, 'scored')
      if (state === 'completed') await scenarioRuns.complete({ params })
    }
    return { id, started }
  }
  const statesOf = async (id: string) => {
    const { runs } = await service.client.benchmarkRuns.scenarioRuns({ params: { id }, query: {} })
    return runs.map(({ state }) => state).reverse()
  }
  const devboxesOf = (started: readonly { devboxId: string }[]) =>
    Promise.all(
      started.map(async ({ devboxId }) => (await service.client.devboxes.get({ params: { id: devboxId } })).status),
    )

  it('by cancel ends scenario runs and devboxes, and scores completed ones', async () => {
    const { id, started } = await startInStates(['completed', 'completed', 'scored', 'scoring', 'running', 'starting'])
    const cancel = () => service.client.benchmarkRuns.cancel({ params: { id } })
    const both = await Promise.all([cancel(), cancel()])
    await expect.poll(() => devboxesOf(started)).toEqual(started.map(() => 'shutdown'))
    for (const run of both) expect(run).toMatchObject({ state: 'canceled', score: 0.25 })
    expect(await statesOf(id)).toEqual(['completed', 'completed', 'canceled', 'canceled', 'canceled', 'canceled'])
    expect(await cancel()).toEqual(both[0])
    await expect(service.client.benchmarkRuns.complete({ params: { id } })).rejects.toMatchObject({
      status: 409,
      message: 'The run is canceled; it needs to be running',
    })
  })

  it('by complete keeps scored runs, and cancels the others', async () => {
    const { id, started } = await startInStates(['completed', 'scored', 'running', 'starting'])
    const { benchmarkRuns } = service.client
    const run = await benchmarkRuns.complete({ params: { id } })
    expect(run).toMatchObject({ state: 'completed', score: 0.375 })
    expect(run.duration_ms).toBeGreaterThan(0)
    expect(await statesOf(id)).toEqual(['completed', 'completed', 'canceled', 'canceled'])
    await expect.poll(() => devboxesOf(started)).toEqual(started.map(() => 'shutdown'))
    for (const action of ['complete', 'cancel'] as const) {
      const response = await service.fetch(`/v1/benchmark_runs/${id}/${action}`, { method: 'POST' })
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([409, 'false'])
      expect(await response.json()).toMatchObject({ message: 'The run is completed; it needs to be running' })
    }
  })

  it('stops scenario runs that are starting', async () => {
    const { id, scenarios } = await startBenchmarkRun([1])
    const starts = Array.from({ length: 8 }, () =>
      service.client.scenarioRuns.start({ body: { scenario_id: scenarios[0] ?? '', benchmark_run_id: id } }),
    )
    const canceled = service.client.benchmarkRuns.cancel({ params: { id } })
    const responses = await Promise.allSettled(starts)
    expect((await canceled).state).toBe('canceled')
    // Each was either canceled with the run, or rejected after its end.
    const rejected = responses.filter((response) => response.status === 'rejected')
    for (const { reason } of rejected) expect(reason).toMatchObject({ status: 409 })
    expect(await statesOf(id)).toEqual(Array(starts.length - rejected.length).fill('canceled'))
    const left = async () => {
      const { devboxes } = await service.client.devboxes.list({ query: { limit: 100 } })
      return devboxes.filter(({ status }) => status !== 'shutdown')
    }
    await expect.poll(left).toEqual([])
    await expect(
      service.client.scenarioRuns.start({ body: { scenario_id: scenarios[0] ?? '', benchmark_run_id: id } }),
    ).rejects.toMatchObject({ status: 409, field: 'benchmark_run_id' })
  })
})

describe('benchmark runs', () => {
  it('200 pass their profile to scenario runs', async () => {
    await service.client.secrets.create({ body: { name: 'KEY', value: 'v' } })
    const { id, scenarios, benchmark } = await startBenchmarkRun([1], {
      run_name: 'nightly',
      metadata: { env: 'ci' },
      runProfile: { purpose: 'regress', envVars: { A: '1', B: '1' }, secrets: { S: 'KEY' } },
    })
    const run = await service.client.benchmarkRuns.get({ params: { id } })
    expect(run).toMatchObject({
      benchmark_id: benchmark,
      state: 'running',
      name: 'nightly',
      metadata: { env: 'ci' },
      purpose: 'regress',
      environment_variables: { A: '1', B: '1' },
      secrets_provided: { S: 'KEY' },
      score: null,
      duration_ms: null,
    })
    expect(id).toMatch(/^bmr_/)
    const scenarioRun = await service.client.scenarioRuns.start({
      body: { scenario_id: scenarios[0] ?? '', benchmark_run_id: id, runProfile: { envVars: { B: '2' } } },
    })
    expect(scenarioRun).toMatchObject({
      benchmark_run_id: id,
      purpose: 'regress',
      environment_variables: { A: '1', B: '2' },
      secrets_provided: { S: 'KEY' },
    })
    await service.client.benchmarkRuns.cancel({ params: { id } })
  })

  it('400 without what the benchmark requires or if it is archived; 404 if unknown', async () => {
    const { benchmarks } = service.client
    const { id } = await benchmarks.create({
      body: { name: 'demanding', required_environment_variables: ['A'], required_secret_names: ['T'] },
    })
    const start = (runProfile: object) => benchmarks.startRun({ body: { benchmark_id: id, runProfile } })
    await expect(start({})).rejects.toMatchObject({
      status: 400,
      message: 'runProfile.envVars: must include A; runProfile.secrets: must include secret T',
    })
    await expect(start({ envVars: { A: '' }, secrets: { T: 'MISSING' } })).rejects.toMatchObject({ status: 400 })
    await benchmarks.archive({ params: { id } })
    await expect(start({})).rejects.toMatchObject({ status: 400, field: 'benchmark_id' })
    await expect(benchmarks.startRun({ body: { benchmark_id: 'bmd_none' } })).rejects.toMatchObject({ status: 404 })
    expect((await benchmarks.runs({ params: { id }, query: {} })).total_count).toBe(0)
  })

  it('400 for a scenario that is not part of the benchmark', async () => {
    const { id } = await startBenchmarkRun([1])
    const scenario_id = await makeScenario(service, command('true'))
    const start = (benchmark_run_id: string) =>
      service.client.scenarioRuns.start({ body: { scenario_id, benchmark_run_id } })
    await expect(start(id)).rejects.toMatchObject({ status: 400, field: 'scenario_id' })
    await expect(start('bmr_none')).rejects.toMatchObject({ status: 404 })
  })

  it('are listed under both addresses, by benchmark, name, search, state and metadata', async () => {
    const { client } = service
    const one = await startBenchmarkRun([], { run_name: 'list one', metadata: { tier: 'a' } })
    const two = await startBenchmarkRun([], { run_name: 'list two', metadata: { tier: 'b' } })
    await client.benchmarkRuns.cancel({ params: { id: one.id } })
    const ids = async (query: object) => (await client.benchmarkRuns.list({ query })).runs.map(({ id }) => id)
    expect(await ids({ name: 'list' })).toEqual([two.id, one.id])
    expect(await ids({ name: 'list', state: 'canceled' })).toEqual([one.id])
    expect(await ids({ benchmark_id: two.benchmark })).toEqual([two.id])
    expect(await ids({ search: one.id })).toEqual([one.id])
    expect(await ids({ metadata: [{ key: 'tier', op: 'in', values: ['a', 'b'] }] })).toEqual([two.id, one.id])
    expect(await ids({ name: 'list', limit: 1, starting_after: two.id })).toEqual([one.id])
    const of = await client.benchmarks.runs({ params: { id: one.benchmark }, query: {} })
    expect([of.runs.map(({ id }) => id), of.total_count]).toEqual([[one.id], 1])
    for (const path of ['', `/${two.id}`, `/${two.id}/scenario_runs`]) {
      const [first, second] = await Promise.all(
        [`/v1/benchmark_runs${path}`, `/v1/benchmarks/runs${path}`].map(async (address) => {
          const response = await service.fetch(address)
          return [response.status, await response.json()]
        }),
      )
      expect(first?.[0]).toBe(200)
      expect(second).toEqual(first)
    }
    const canceled = await service.fetch(`/v1/benchmarks/runs/${two.id}/cancel`, { method: 'POST' })
    expect(await canceled.json()).toMatchObject({ id: two.id, state: 'canceled' })
  })

  it('400 to start a scenario in the run of a job, and 409 to score or complete what the job started', async () => {
    const { id, scenarios } = await startBenchmarkRun([1])
    const { id: scenarioRun } = await startRun(service, scenarios[0] ?? '', { benchmark_run_id: id })
    const database = new DatabaseSync(join(service.dataDir, 'devdeck.db'))
    database.exec(`
      UPDATE scenario_runs SET attempt = 0 WHERE id = '${scenarioRun}';
      INSERT INTO benchmark_jobs (id, account, name, state, create_time_ms, metadata) VALUES ('bmj_1', 'test', 'j', 'running', 1, '{}');
      UPDATE benchmark_runs SET job_id = 'bmj_1', agent_index = 0 WHERE id = '${id}'`)
    database.close()
    await expect(
      service.client.scenarioRuns.start({ body: { scenario_id: scenarios[0] ?? '', benchmark_run_id: id } }),
    ).rejects.toMatchObject({ status: 400, field: 'benchmark_run_id' })
    await expect(service.client.benchmarkRuns.complete({ params: { id } })).rejects.toMatchObject({ status: 409 })
    const { scenarioRuns } = service.client
    for (const action of ['score', 'complete'] as const)
      await expect(scenarioRuns[action]({ params: { id: scenarioRun } })).rejects.toMatchObject({
        status: 409,
        message: 'The scenario run belongs to a job, which scores and ends it',
      })
    expect((await scenarioRuns.cancel({ params: { id: scenarioRun } })).state).toBe('canceled')
  })
})
