import { expect, it } from 'vitest'
import type { JudgedAgent } from '#lib/statistics/figures.ts'
import { judge } from '#lib/statistics/testing.ts'
import { reportMarkdown } from './markdown.ts'

const agent = (agent_name: string, score: number): JudgedAgent => ({
  agent_name,
  model_name: null,
  benchmark_run_id: `bmr_${agent_name}`,
  job_id: 'bmj_1',
  outcomes: [0, 1, 2].map((i) => ({ scenario_id: `s${i}`, scenario_name: `s${i}`, state: 'COMPLETED', score })),
})

const markdownOf = (...agents: JudgedAgent[]): string =>
  reportMarkdown({
    job: {
      id: 'bmj_1',
      name: 'nightly',
      state: 'completed',
      create_time_ms: 0,
      planned_scenarios: 3,
      planned_attempts: 1,
      metric: null,
    },
    verdict: { lead: 'The verdict.', more: [], tone: 'neutral' },
    metric: null,
    metrics: [],
    ...judge({ agents, complete: true }, 'zero'),
    harbor_mean: null,
    failure_groups: [],
    exclusions: null,
    labels: [],
    group: null,
    groups: null,
    group_notes: [],
    notes: [],
  })

const firstCells = (markdown: string): string[] =>
  [...markdown.matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell as string).filter((cell) => cell !== '---')

it('lists agents and pairs in the order of the page', () => {
  const markdown = markdownOf(agent('oracle', 1), agent('low', 0.25), agent('high', 0.75))
  expect(firstCells(markdown)).toEqual([
    ...['Agent', 'high', 'low', 'oracle'],
    ...['Pair', 'high vs low', 'oracle vs low', 'oracle vs high'],
  ])
  expect(markdown).toMatch(/^\| oracle \|.*\| control, not ranked \|$/m)
})

it('omits empty columns', () => {
  expect(markdownOf(agent('a', 1))).toContain('| pass@1 | Completed | Failed | Timed out | Canceled | Rank |')
  const [first, ...outcomes] = agent('b', 1).outcomes
  const costly = { ...agent('b', 1), outcomes: [{ ...(first as object), usage: { cost_usd: 0.5 } }, ...outcomes] }
  expect(markdownOf(agent('a', 1), costly as JudgedAgent)).toContain('| Canceled | Cost | Rank |')
})

it('drops bidi controls from names', () => {
  expect(markdownOf(agent('a\u202eb', 1))).toContain('| ab |')
})

it('formats numbers like the page', () => {
  expect(markdownOf(agent('a', -0.0002))).toContain('| a | 0.000 |')
})
