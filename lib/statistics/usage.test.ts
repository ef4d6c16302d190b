import { expect, it } from 'vitest'
import type { AttemptOutcome } from './figures.ts'
import { judge } from './judgement.ts'

const attempt = (usage: AttemptOutcome['usage'], state = 'COMPLETED'): AttemptOutcome => ({
  scenario_id: 's',
  scenario_name: 's',
  state,
  score: state === 'COMPLETED' ? 1 : null,
  usage,
})
const figuresOf = (...outcomes: AttemptOutcome[]) =>
  judge(
    { agents: [{ agent_name: 'a', model_name: null, benchmark_run_id: 'r', job_id: 'j', outcomes }], complete: true },
    'zero',
  ).agents[0]

it('sums reported usage, including failed attempts', () => {
  const figures = figuresOf(
    attempt({ n_input_tokens: 10, n_cache_tokens: null, n_output_tokens: 1, cost_usd: 0.5 }),
    attempt({ n_input_tokens: 20, n_output_tokens: 2 }, 'TIMEOUT'),
    attempt({ unknown_because: 'the agent left nothing' }),
    attempt(undefined),
  )
  expect(figures).toMatchObject({
    n_input_tokens: 30,
    n_cache_tokens: null,
    n_output_tokens: 3,
    cost_usd: 0.5,
    n_with_tokens: 2,
    n_with_cost: 1,
  })
  expect(figures?.reasons).toMatchObject({ n_cache_tokens: 'the agent left nothing' })
})

it('gives a reason for every figure that no attempt reports', () => {
  const figures = figuresOf(attempt(null))
  expect([figures?.n_input_tokens, figures?.cost_usd, figures?.n_with_cost]).toEqual([null, null, 0])
  expect(figures?.reasons).toMatchObject({
    n_input_tokens: 'no attempt reports input tokens',
    cost_usd: 'no attempt reports cost',
  })
})

it('gives the most frequent reason', () => {
  const attempts = ['it was never set up', 'the agent left nothing', 'the agent left nothing'].map((unknown_because) =>
    attempt({ unknown_because }),
  )
  for (const outcomes of [attempts, attempts.toReversed()])
    expect(figuresOf(...outcomes)?.reasons.cost_usd).toBe('the agent left nothing')
})
