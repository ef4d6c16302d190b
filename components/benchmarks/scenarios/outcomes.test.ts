import { expect, it } from 'vitest'
import { BenchmarkJobList } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { agentHistories, scenarioAttempts, scenarioOutcomesOf } from './outcomes.ts'

it('lists every attempt once, with missing and unknown fields', () => {
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
              { scenario_definition_id: 's1', state: 'TIMEOUT', scenario_run_id: 'scr_2', duration_ms: 5 },
              { scenario_definition_id: 's2', scenario_name: 'two', state: 'COMPLETED', score: 1 },
            ],
          },
        ],
        in_progress_runs: null,
      },
    ],
  })
  const { runs } = readLeniently(ScenarioRunList, {
    runs: [
      { id: 'scr_1', scenario_id: 's1', state: 'thinking', benchmark_run_id: 'bmr_other' },
      { id: 'scr_2', scenario_id: 's1', state: 'timeout', start_time_ms: 1 },
    ],
  })
  const known = scenarioOutcomesOf('s1', list)
  expect(known.has_older_jobs).toBe(true)
  const attempts = scenarioAttempts(runs, known)
  expect(
    attempts.map(({ state, outcome, scenario_run_id, agent }) => [state, outcome, scenario_run_id, agent?.agent_name]),
  ).toEqual(
    expect.arrayContaining([
      ['thinking', null, 'scr_1', undefined],
      ['FAILED', 'FAILED', null, 'a'],
      ['SKIPPED', null, 'scr_9', 'a'],
      ['TIMEOUT', 'TIMEOUT', 'scr_2', 'a'],
    ]),
  )
  expect(attempts.length).toBe(4)
  expect(agentHistories(attempts).find(({ agent }) => agent)).toMatchObject({
    n_counted: 2,
    n_passed: 0,
    mean: 0,
    n_failed: 1,
    n_timeout: 1,
  })
})
