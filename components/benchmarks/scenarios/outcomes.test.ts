import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BenchmarkJob, BenchmarkJobList } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { agent, createJob, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { agentHistories, scenarioAttempts, scenarioOutcomesOf } from './outcomes.ts'

let service: TestService
let scenario: string
let jobs: BenchmarkJob[]
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  const scenario_ids = await makeScenarios(service.client, 2)
  scenario = scenario_ids[0] as string
  const run = async (...agent_configs: object[]) => {
    const spec = { type: 'scenarios' as const, scenario_ids, agent_configs: agent_configs as never }
    return untilEnded(service.client, (await createJob(service.client, spec)).id)
  }
  const scores = (score: number, model_name?: string) => agent('solver', `echo ${score} > ~/answer`, { model_name })
  jobs = [
    await run(scores(1, 'm1'), scores(0.5, 'm2')),
    await run(scores(0, 'm1'), agent('slow', 'sleep infinity', { timeout_seconds: 1 })),
  ]
  // A run without a job.
  const { id } = await service.client.scenarioRuns.start({ body: { scenario_id: scenario } })
  await service.client.scenarioRuns.cancel({ params: { id } })
})
afterAll(() => service.close())

it('lists every attempt once and summarizes them by agent', async () => {
  const list = await service.client.scenarioRuns.list({ query: { scenario_id: scenario } })
  expect(list.total_count).toBe(5)
  const known = scenarioOutcomesOf(scenario, await service.client.benchmarkJobs.list())
  expect([known.n_jobs, known.has_older_jobs, known.outcomes.length]).toEqual([2, false, 4])
  const attempts = scenarioAttempts(list.runs, known)
  expect(attempts.length).toBe(5)
  const script = attempts[0]
  expect([script?.agent, script?.state, script?.outcome, script?.score]).toEqual([null, 'canceled', 'CANCELED', null])
  const slow = attempts.find(({ agent: by }) => by?.agent_name === 'slow')
  expect(slow).toMatchObject({
    agent: { job_id: jobs[1]?.id, model_name: null },
    state: 'TIMEOUT',
    outcome: 'TIMEOUT',
    score: null,
  })
  expect(slow?.failure?.exception_type).toBe('AgentTimeoutError')

  const rows = agentHistories(attempts).map((row) => [
    row.agent && `${row.agent.agent_name} ${row.agent.model_name}`,
    `${row.n_passed} of ${row.n_counted}`,
    row.mean,
    [row.n_failed, row.n_timeout, row.n_cancelled, row.n_jobs],
  ])
  expect(rows[0]).toEqual([null, '0 of 0', null, [0, 0, 1, 0]])
  expect(rows.slice(1).sort()).toEqual([
    ['slow null', '0 of 1', 0, [0, 1, 0, 1]],
    ['solver m1', '1 of 2', 0.5, [0, 0, 0, 2]],
    ['solver m2', '0 of 1', 0.5, [0, 0, 0, 1]],
  ])
})

it('accepts missing and unknown fields', () => {
  const list = readLeniently(BenchmarkJobList, {
    has_more: true,
    jobs: [
      {
        id: 'bmj_1',
        name: null,
        state: 'paused',
        benchmark_outcomes: [
          {
            benchmark_run_id: 'bmr_1',
            agent_name: 'a',
            scenario_outcomes: [
              {
                scenario_definition_id: 's1',
                scenario_name: null,
                state: 'FAILED',
                scenario_run_id: null,
                failure_reason: { exception_type: 'BuildFailed' },
              },
              {
                scenario_definition_id: 's1',
                scenario_name: 'one',
                state: 'SKIPPED',
                scenario_run_id: 'scr_9',
                score: null,
              },
              { scenario_definition_id: 's2', scenario_name: 'two', state: 'COMPLETED', score: 1 },
            ],
          },
        ],
        in_progress_runs: null,
      },
    ],
  })
  const { runs } = readLeniently(ScenarioRunList, {
    runs: [{ id: 'scr_1', scenario_id: 's1', state: 'thinking', benchmark_run_id: 'bmr_other' }],
  })
  const known = scenarioOutcomesOf('s1', list)
  expect(known.has_older_jobs).toBe(true)
  const attempts = scenarioAttempts(runs, known)
  expect(
    attempts.map(({ state, outcome, scenario_run_id, agent: by }) => [state, outcome, scenario_run_id, by?.agent_name]),
  ).toEqual(
    expect.arrayContaining([
      ['thinking', null, 'scr_1', undefined],
      ['FAILED', 'FAILED', null, 'a'],
      ['SKIPPED', null, 'scr_9', 'a'],
    ]),
  )
  expect(attempts.length).toBe(3)
  expect(agentHistories(attempts).find(({ agent: by }) => by)).toMatchObject({
    n_counted: 1,
    n_passed: 0,
    mean: 0,
    n_failed: 1,
  })
  expect(agentHistories(scenarioAttempts([], scenarioOutcomesOf('s1', { jobs: [], has_more: false })))).toEqual([])
})
