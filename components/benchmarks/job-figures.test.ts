import { describe, expect, it } from 'vitest'
import type { BenchmarkJob, BenchmarkOutcome } from '#lib/contract/benchmark-jobs.ts'
import { agentRows, formatScore, outcomeCounts, progressOf, shortLabels, yamlProblems } from './job-figures.ts'

const outcome = (id: string, agent: string, finished: number): BenchmarkOutcome => ({
  benchmark_run_id: id,
  agent_name: agent,
  model_name: null,
  n_completed: finished,
  n_failed: 0,
  n_timeout: 0,
  average_score: 1,
  scenario_outcomes: Array.from({ length: finished }, (_, i) => ({
    scenario_definition_id: `scn_${i}`,
    scenario_name: `s${i}`,
    state: 'COMPLETED',
    score: 1,
  })),
})

const job = (part: Partial<BenchmarkJob>): BenchmarkJob => ({
  id: 'bmj_1',
  name: 'job',
  state: 'running',
  create_time_ms: 0,
  job_source: { type: 'scenarios' },
  job_spec: {
    scenario_ids: ['scn_0', 'scn_1', 'scn_2'],
    agent_configs: ['careful', 'hasty', 'lazy'].map((name) => ({ name, type: 'job_agent' })),
    orchestrator_config: { n_attempts: 2 },
  },
  ...part,
})

describe('agents of a job', () => {
  it('stand in the order of the specification, whatever has come of them', () => {
    const rows = agentRows(
      job({
        benchmark_outcomes: [outcome('bmr_2', 'hasty', 3)],
        in_progress_runs: [
          {
            benchmark_run_id: 'bmr_1',
            state: 'running',
            start_time_ms: 1,
            agent_config: { type: 'job_agent', name: 'careful' },
          },
        ],
      }),
    )
    expect(rows.map(({ name, state, runId }) => [name, state, runId])).toEqual([
      ['careful', 'running', 'bmr_1'],
      ['hasty', 'finished', 'bmr_2'],
      ['lazy', 'pending', null],
    ])
  })

  it('stand once when their run is among the outcomes and still going on', () => {
    const rows = agentRows(
      job({
        benchmark_outcomes: [outcome('bmr_1', 'careful', 1)],
        in_progress_runs: [{ benchmark_run_id: 'bmr_1', state: 'running', start_time_ms: 1 }],
      }),
    )
    expect(rows.filter(({ runId }) => runId === 'bmr_1')).toMatchObject([{ state: 'running', name: 'careful' }])
    expect(rows).toHaveLength(3)
  })

  it('stand as often as they are named', () => {
    const twice = job({ benchmark_outcomes: [outcome('bmr_1', 'same', 1)] })
    twice.job_spec = { scenario_ids: [], agent_configs: [1, 2].map(() => ({ name: 'same', type: 'job_agent' })) }
    expect(agentRows(twice).map(({ state }) => state)).toEqual(['finished', 'pending'])
  })
})

describe('a job in a state that is not known', () => {
  // It was followed as a running one, whose agents were queued.
  it('has no pending agents', () => {
    expect(agentRows(job({ state: 'archived' })).map(({ state }) => state)).toEqual([
      'finished',
      'finished',
      'finished',
    ])
    expect(agentRows(job({ state: 'queued' })).map(({ state }) => state)).toEqual(['pending', 'pending', 'pending'])
  })
})

describe('progress', () => {
  // "40 of 40" where 64 were planned: an imported job names only the scenarios that have files.
  it('counts the trials that were planned, where the outcomes report it', () => {
    const planned = [64, 64].map((n_total_trials, at) => ({
      ...outcome(`bmr_${at}`, ['careful', 'hasty'][at] ?? '', 40),
      n_total_trials,
    }))
    const spec = {
      scenario_ids: ['scn_0'],
      agent_configs: ['careful', 'hasty'].map((name) => ({ name, type: 'job_agent' })),
    }
    expect(progressOf(job({ benchmark_outcomes: planned, job_spec: spec }))).toEqual({ finished: 80, total: 128 })
    expect(progressOf(job({ benchmark_outcomes: planned, job_spec: null }))).toEqual({ finished: 80, total: 128 })
    const withLate = { ...spec, agent_configs: [...spec.agent_configs, { name: 'late', type: 'job_agent' }] }
    expect(progressOf(job({ benchmark_outcomes: planned, job_spec: withLate })).total).toBe(192)
    expect(progressOf(job({ benchmark_outcomes: [outcome('bmr_1', 'a', 2)], job_spec: null }))).toEqual({
      finished: 2,
      total: null,
    })
  })

  it('counts the trials that an outcome only gives the number of', () => {
    const counted = { ...outcome('bmr_1', 'careful', 0), n_completed: 1, n_failed: 1 }
    expect(progressOf(job({ benchmark_outcomes: [counted] }))).toEqual({ finished: 2, total: 9 })
  })

  it('counts outcomes of scenarios times agents; repetitions after a failure add none', () => {
    expect(progressOf(job({ benchmark_outcomes: [outcome('bmr_1', 'careful', 2)] }))).toEqual({ finished: 2, total: 9 })
  })

  it('counts each attempt of a Harbor job', () => {
    expect(progressOf(job({ job_source: { type: 'harbor' } }))).toEqual({ finished: 0, total: 18 })
  })

  it('never has more finished than there are, and knows no total without a specification', () => {
    expect(progressOf(job({ benchmark_outcomes: [outcome('bmr_1', 'careful', 20)] })).total).toBe(20)
    expect(progressOf(job({ job_spec: null }))).toEqual({ finished: 0, total: null })
  })
})

it('tells agents apart by what differs', () => {
  const of = (...pairs: [string, string | null][]) => shortLabels(pairs.map(([name, model]) => ({ name, model })))
  expect(of(['command', 'careful'], ['command', 'hasty'])).toEqual(['careful', 'hasty'])
  expect(of(['command', 'careful'], ['command', 'careful'])).toEqual([
    'command · careful (1 of 2)',
    'command · careful (2 of 2)',
  ])
  expect(of(['oracle', null], ['nop', 'x'])).toEqual(['oracle', 'nop · x'])
  expect(of(['command', 'careful'])).toEqual(['command · careful'])
  // Who provides a model is said where it is needed.
  expect(of(['a', 'x/large'], ['a', 'x/small'])).toEqual(['large', 'small'])
  expect(of(['a', 'x/large'], ['a', 'y/large'])).toEqual(['x/large', 'y/large'])
  expect(of(['a', 'x/large'], ['b', 'x/y/large'])).toEqual(['a · large', 'b · large'])
  expect(of(['a', 'x/large'], ['a', 'y/large'], ['b', null])).toEqual(['a · x/large', 'a · y/large', 'b'])
  expect(of(['a', 'x/'], ['b', '/'])).toEqual(['a · x', 'b'])
})

it('writes scores with as many digits as they need', () => {
  expect([0, 1, 0.5, 1 / 3, 0.125, Number.NaN].map(formatScore)).toEqual([
    ...['0.00', '1.00', '0.50', '0.333', '0.125', 'unknown'],
  ])
})

it('finds the line of each problem of a refused job file', () => {
  expect(yamlProblems('line 3, column 5: agents[0].name is unknown\n12:1 datasets: outside\nno place')).toEqual([
    { line: 3, text: 'line 3, column 5: agents[0].name is unknown' },
    { line: 12, text: '12:1 datasets: outside' },
    { line: null, text: 'no place' },
  ])
})

describe('how the attempts of an agent ended', () => {
  const ended = (...states: string[]) =>
    states.map((state) => ({ scenario_definition_id: 's', scenario_name: 's', state, score: null }))

  it('is as its outcome counts it, with those in states that are not known', () => {
    const counted = {
      ...outcome('bmr_1', 'a', 2),
      scenario_outcomes: ended('COMPLETED', 'COMPLETED', 'SKIPPED', 'CANCELED'),
    }
    expect(outcomeCounts(counted)).toEqual({ completed: 2, failed: 0, timedOut: 0, cancelled: 1, other: 1, total: 4 })
  })

  it('is by the states where the outcome does not count it, and told without them', () => {
    const untold = {
      ...outcome('bmr_1', 'a', 0),
      n_completed: Number.NaN,
      scenario_outcomes: ended('COMPLETED', 'FAILED'),
    }
    expect(outcomeCounts({ ...untold, n_failed: Number.NaN })).toMatchObject({ completed: 1, failed: 1, total: 2 })
    expect(outcomeCounts({ ...outcome('bmr_1', 'a', 3), scenario_outcomes: [] })).toMatchObject({
      completed: 3,
      total: 3,
    })
  })
})

it('takes a run in a state that is not known for one that goes on', () => {
  const run = { benchmark_run_id: 'bmr_1', start_time_ms: 0, agent_config: { type: 'job_agent', name: 'careful' } }
  const stateIn = (state: string) =>
    agentRows(job({ in_progress_runs: [{ ...run, state }] })).find(({ runId }) => runId === 'bmr_1')?.state
  expect([stateIn('provisioning'), stateIn('running'), stateIn('failed')]).toEqual(['running', 'running', 'finished'])
})
