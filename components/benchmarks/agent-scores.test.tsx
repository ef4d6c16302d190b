import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { AgentScores } from './agent-scores.tsx'

const wordsOf = (benchmark_outcomes: object[], more: object = {}): string =>
  renderToStaticMarkup(<AgentScores job={readLeniently(BenchmarkJob, { id: 'bmj_1', benchmark_outcomes, ...more })} />)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** Two scenarios: one with a score of so many hundredths, one that failed. */
const outcome = (number: number, more: object = {}) => ({
  benchmark_run_id: `bmr_${number}`,
  agent_name: `agent ${number}`,
  average_score: 0.999,
  scenario_outcomes: [
    { scenario_definition_id: 'one', state: 'COMPLETED', score: number / 100 },
    { scenario_definition_id: 'two', state: 'FAILED' },
  ],
  ...more,
})

const agents = (count: number) => Array.from({ length: count }, (_, at) => outcome(at + 1))

it('shows the agents with their scores and what these are over, the highest first', () => {
  expect(wordsOf(agents(6))).toMatch(/^agent 6 0.030 \(n = 2\) agent 5 .* agent 1 0.005 \(n = 2\)$/)
})

it('names the metric of the scores, unless it goes by the usual name', () => {
  expect(wordsOf(agents(1), { judged_metric: 'accuracy' })).toBe('agent 1 0.005 accuracy (n = 2)')
  expect(wordsOf(agents(1), { judged_metric: 'reward' })).toBe('agent 1 0.005 (n = 2)')
})

it('says how many more there are', () => {
  expect(wordsOf(agents(11))).toMatch(/ agent 6 0.030 \(n = 2\) and 5 more$/)
})

it('puts those that check the tasks last', () => {
  expect(wordsOf([outcome(90, { agent_name: 'oracle' }), outcome(0, { agent_name: 'nop' }), outcome(10)])).toBe(
    'agent 10 0.050 (n = 2) oracle 0.450 (n = 2) nop 0.000 (n = 2)',
  )
})

it('takes the mean over the scenarios, as the page of the job does, and not over the attempts', () => {
  const attempts = [
    ['one', 1],
    ['one', 1],
    ['one', 1],
    ['two', 0],
  ].map(([scenario_definition_id, score]) => ({ scenario_definition_id, state: 'COMPLETED', score }))
  expect(wordsOf([outcome(1, { scenario_outcomes: attempts })])).toBe('agent 1 0.500 (n = 2)')
})

it('says of how many the mean leaves some out, and where there is none', () => {
  const scenario_outcomes = ['COMPLETED', 'CANCELED'].map((state, at) => ({
    scenario_definition_id: `${at}`,
    state,
    score: at === 0 ? 1 : null,
  }))
  expect(
    wordsOf([
      outcome(1, { scenario_outcomes }),
      outcome(2, { scenario_outcomes: scenario_outcomes.slice(1) }),
      outcome(3, { average_score: null, scenario_outcomes: null }),
    ]),
  ).toBe('agent 1 1.000 (n = 1 of 2) agent 2 no score (n = 0 of 1) agent 3 no score (n = 0)')
})

it('shows what a service tells that tells no attempts', () => {
  const told = { average_score: 0.75, n_completed: 2, n_failed: 1, scenario_outcomes: [] }
  expect(wordsOf([outcome(1, told)])).toBe('agent 1 0.750 (n = 2 of 3)')
})

it('leaves nothing open of a job that has ended', () => {
  const job_spec = { agent_configs: [{ name: 'agent 1' }, { name: 'late' }] }
  expect(wordsOf([outcome(1)], { job_spec, state: 'running' })).toMatch(/ late pending$/)
  expect(wordsOf([outcome(1)], { job_spec, state: 'cancelled' })).toMatch(/ late no score$/)
  expect([wordsOf([], { state: 'queued' }), wordsOf([], { state: 'failed' })]).toEqual(['None yet', 'None'])
})
