import { describe, expect, it } from 'vitest'
import { benchmarkJobStates } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkOutcome, type EndedTrial, jobEnd, nextJobState, runFailure } from './benchmark-jobs.ts'

const trial = (over: Partial<EndedTrial>): EndedTrial => ({
  id: 'scr_1',
  scenario_id: 'scn_1',
  scenario_name: 'one',
  state: 'completed',
  outcome: 'COMPLETED',
  score: 1,
  rewards: null,
  failure: null,
  start_time_ms: 1000,
  end_time_ms: 1250,
  attempt: 0,
  warnings: null,
  environment_differs: false,
  engine: null,
  agent_record: null,
  ...over,
})
const failed = (exception_type: string) =>
  trial({ state: 'failed', outcome: 'FAILED', score: null, failure: { exception_type, exception_message: 'no' } })
const run = { id: 'bmr_1', start_time_ms: 500, end_time_ms: 4500, agent: { name: 'a', model_name: 'm' } }

it('lists the outcomes of a scenario in attempt order, whatever their times', () => {
  const trials = [2, 0, 1].map((attempt, i) => trial({ id: `scr_${attempt}`, attempt, end_time_ms: 2000 - i }))
  const { scenario_outcomes } = benchmarkOutcome(run, trials)
  expect(scenario_outcomes.map(({ attempt, scenario_run_id }) => `${attempt} ${scenario_run_id}`)).toEqual([
    ...['1 scr_0', '2 scr_1', '3 scr_2'],
  ])
})

it('has exactly these transitions between the states of a job', () => {
  const events = ['initialize', 'run', 'complete', 'fail', 'cancel', 'time_out'] as const
  const table = Object.fromEntries(
    benchmarkJobStates.map((state) => [state, events.map((event) => nextJobState(state, event) ?? '-').join(' ')]),
  )
  const ended = '- - - - - -'
  expect(table).toEqual({
    queued: 'initializing - - failed cancelled timeout',
    initializing: 'initializing running completed failed cancelled timeout',
    running: '- - completed failed cancelled timeout',
    ...{ completed: ended, failed: ended, cancelled: ended, timeout: ended, incomplete: ended },
  })
})

it('counts each state and averages completed scenarios only', () => {
  const outcome = benchmarkOutcome(run, [
    trial({ score: 0.5 }),
    trial({ score: 0 }),
    failed('VerifierError'),
    trial({ state: 'timeout', outcome: 'TIMEOUT', score: null }),
    trial({ state: 'canceled', outcome: null, score: null }),
  ])
  expect(outcome).toMatchObject({ agent_name: 'a', model_name: 'm', average_score: 0.25, duration_ms: 4000 })
  expect([outcome.n_completed, outcome.n_failed, outcome.n_timeout, outcome.n_canceled]).toEqual([2, 1, 1, 1])
  expect(outcome.scenario_outcomes.map(({ state, score }) => `${state} ${score}`)).toEqual([
    ...['COMPLETED 0.5', 'COMPLETED 0', 'FAILED null', 'TIMEOUT null', 'CANCELED null'],
  ])
  expect(outcome.scenario_outcomes[0]?.duration_ms).toBe(250)
  expect(benchmarkOutcome(run, [failed('X')]).average_score).toBeNull()
})

describe('the end of a job', () => {
  it('is completed if a run is, otherwise failed if a run is', () => {
    const end = (...states: ('completed' | 'failed' | 'canceled')[]) => jobEnd(states.map((state) => ({ state })))
    expect(end('canceled', 'failed', 'completed')).toBe('complete')
    expect(end('canceled', 'failed')).toBe('fail')
    expect(end('canceled', 'canceled')).toBe('cancel')
  })

  it('fails the run only if no trial reached its agent', () => {
    expect(runFailure([failed('SandboxBuildFailedError'), failed('HealthcheckError')])).toMatch(/SandboxBuildFailed/)
    expect(runFailure([failed('SandboxBuildFailedError'), trial({})])).toBeNull()
    expect(runFailure([failed('NonZeroAgentExitCodeError')])).toBeNull()
    expect(runFailure([])).toBeNull()
  })
})
