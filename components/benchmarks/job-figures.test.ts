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

describe('agentRows', () => {
  const agents = (part: Partial<BenchmarkJob>) => agentRows(job(part))
  const run = { benchmark_run_id: 'bmr_1', state: 'running', start_time_ms: 1 }
  const careful = { type: 'job_agent', name: 'careful' }

  it('follows the specification and merges a run with its outcome', () => {
    const rows = agents({
      benchmark_outcomes: [outcome('bmr_2', 'hasty', 3)],
      in_progress_runs: [{ ...run, agent_config: careful }],
    })
    expect(rows.map(({ name, state, runId }) => [name, state, runId])).toEqual([
      ['careful', 'running', 'bmr_1'],
      ['hasty', 'finished', 'bmr_2'],
      ['lazy', 'pending', null],
    ])
    const merged = agents({ benchmark_outcomes: [outcome('bmr_1', 'careful', 1)], in_progress_runs: [run] })
    expect(merged.map(({ runId, state }) => [runId, state])).toEqual([
      ['bmr_1', 'running'],
      [null, 'pending'],
      [null, 'pending'],
    ])
  })

  it('lists a repeated agent twice', () => {
    const job_spec = { scenario_ids: [], agent_configs: [1, 2].map(() => ({ name: 'same', type: 'job_agent' })) }
    const rows = agents({ job_spec, benchmark_outcomes: [outcome('bmr_1', 'same', 1)] })
    expect(rows.map(({ state }) => state)).toEqual(['finished', 'pending'])
  })

  it('has no pending agents in an unknown job state, but treats an unknown run state as running', () => {
    expect(agents({ state: 'archived' })[0]?.state).toBe('finished')
    expect(agents({ state: 'queued' })[0]?.state).toBe('pending')
    const stateOf = (state: string) =>
      agents({ in_progress_runs: [{ ...run, state, agent_config: careful }] })[0]?.state
    expect(['provisioning', 'running', 'failed'].map(stateOf)).toEqual(['running', 'running', 'finished'])
  })
})

describe('progressOf', () => {
  const spec = (...names: string[]) => ({
    scenario_ids: ['scn_0'],
    agent_configs: names.map((name) => ({ name, type: 'job_agent' })),
  })
  // An imported job only names the scenarios that have files.
  const planned = ['careful', 'hasty'].map((name) => ({ ...outcome(`bmr_${name}`, name, 40), n_total_trials: 64 }))
  const counted = { ...outcome('bmr_1', 'careful', 0), n_completed: 1, n_failed: 1 }

  it.each<[string, Partial<BenchmarkJob>, number, number | null]>([
    ['planned trials', { benchmark_outcomes: planned, job_spec: spec('careful', 'hasty') }, 80, 128],
    ['planned trials without a specification', { benchmark_outcomes: planned, job_spec: null }, 80, 128],
    ['a pending agent', { benchmark_outcomes: planned, job_spec: spec('careful', 'hasty', 'late') }, 80, 192],
    ['an unknown total', { benchmark_outcomes: [outcome('bmr_1', 'a', 2)], job_spec: null }, 2, null],
    ['outcomes with counts only', { benchmark_outcomes: [counted] }, 2, 9],
    ['scenarios times agents, without retries', { benchmark_outcomes: [outcome('bmr_1', 'careful', 2)] }, 2, 9],
    ['each attempt of a Harbor job', { job_source: { type: 'harbor' } }, 0, 18],
    ['more outcomes than planned', { benchmark_outcomes: [outcome('bmr_1', 'careful', 20)] }, 20, 20],
  ])('counts %s', (_, part, finished, total) => expect(progressOf(job(part))).toEqual({ finished, total }))
})

it.each([
  ['command · careful, command · hasty', 'careful, hasty'],
  ['command · careful, command · careful', 'command · careful (1 of 2), command · careful (2 of 2)'],
  ['oracle, nop · x', 'oracle, nop · x'],
  ['command · careful', 'command · careful'],
  ['a · x/large, a · x/small', 'large, small'],
  ['a · x/large, a · y/large', 'x/large, y/large'],
  ['a · x/large, b · x/y/large', 'a · large, b · large'],
  ['a · x/large, a · y/large, b', 'a · x/large, a · y/large, b'],
  ['a · x/, b · /', 'a · x, b'],
])('labels %s as %s', (agents, labels) => {
  const parts = agents.split(', ').map((agent) => agent.split(' · '))
  expect(shortLabels(parts.map(([name = '', model = null]) => ({ name, model }))).join(', ')).toBe(labels)
})

it('formats scores', () => {
  const scores = ['0.00', '1.00', '0.50', '0.333', '0.125', 'unknown']
  expect([0, 1, 0.5, 1 / 3, 0.125, Number.NaN].map(formatScore)).toEqual(scores)
})

it('finds the line of each problem in a job file', () => {
  expect(yamlProblems('line 3, column 5: agents[0].name is unknown\n12:1 datasets: outside\nno place')).toEqual([
    { line: 3, text: 'line 3, column 5: agents[0].name is unknown' },
    { line: 12, text: '12:1 datasets: outside' },
    { line: null, text: 'no place' },
  ])
})

it('uses reported counts, or counts the attempts', () => {
  const ended = (...states: string[]) =>
    states.map((state) => ({ scenario_definition_id: 's', scenario_name: 's', state, score: null }))
  const mixed = ended('COMPLETED', 'COMPLETED', 'SKIPPED', 'CANCELED')
  expect(outcomeCounts({ ...outcome('bmr_1', 'a', 2), scenario_outcomes: mixed })).toEqual({
    completed: 2,
    failed: 0,
    timedOut: 0,
    cancelled: 1,
    other: 1,
    total: 4,
  })
  const unreported = { ...outcome('bmr_1', 'a', 0), n_completed: Number.NaN, n_failed: Number.NaN }
  const counted = outcomeCounts({ ...unreported, scenario_outcomes: ended('COMPLETED', 'FAILED') })
  expect(counted).toMatchObject({ completed: 1, failed: 1, total: 2 })
})
