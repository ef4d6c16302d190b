import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { AgentScores } from './job-list.tsx'

const textOf = (benchmark_outcomes: object[], more: object = {}): string =>
  renderToStaticMarkup(<AgentScores job={readLeniently(BenchmarkJob, { id: 'bmj_1', benchmark_outcomes, ...more })} />)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** One scenario scored `number` hundredths, one failed. */
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

const outcomesOf = (...attempts: [id: string, state: string, score: number | null][]) =>
  attempts.map(([scenario_definition_id, state, score]) => ({ scenario_definition_id, state, score }))
const completed = outcomesOf(['0', 'COMPLETED', 1], ['1', 'CANCELED', null])

it.each<[string, string, object[], object?]>([
  ['names an unusual metric', 'agent 1 0.005 accuracy (n = 2)', [outcome(1)], { judged_metric: 'accuracy' }],
  [
    'lists controls last',
    'agent 10 0.050 (n = 2) oracle 0.450 (n = 2) and 1 more',
    [outcome(90, { agent_name: 'oracle' }), outcome(0, { agent_name: 'nop' }), outcome(10)],
  ],
  [
    'averages scenarios, not attempts',
    'agent 1 0.500 (n = 2)',
    [
      outcome(1, {
        scenario_outcomes: outcomesOf(['one', 'COMPLETED', 1], ['one', 'COMPLETED', 1], ['two', 'COMPLETED', 0]),
      }),
    ],
  ],
  [
    'shows excluded scenarios and missing scores',
    'agent 1 1.000 (n = 1 of 2) agent 2 no score (n = 0 of 1) and 1 more',
    [
      outcome(1, { scenario_outcomes: completed }),
      outcome(2, { scenario_outcomes: completed.slice(1) }),
      outcome(3, { average_score: null, scenario_outcomes: null }),
    ],
  ],
  [
    "shows the service's mean without attempts",
    'agent 1 0.750 (n = 2 of 3)',
    [outcome(1, { average_score: 0.75, n_completed: 2, n_failed: 1, scenario_outcomes: [] })],
  ],
])('%s', (_, expected, outcomes, more) => {
  expect(textOf(outcomes, more)).toBe(expected)
})
