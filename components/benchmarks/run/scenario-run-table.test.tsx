import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { matchingRuns, metricOfRuns, ScenarioRunTable } from './scenario-run-table.tsx'

const listOf = (runs: object[]) => readLeniently(ScenarioRunList, { runs })
const textOf = (runs: object[], view = {}, failures = new Map()) =>
  renderToStaticMarkup(
    <ScenarioRunTable list={listOf(runs)} failures={failures} view={view} change={() => undefined} />,
  ).replace(/<[^>]*>/g, '|')

it('searches, filters and sorts scenario runs, with those without a score last', () => {
  const scored = (score: number) => ({ score, scoring_function_results: [] })
  const { runs } = listOf([
    { id: 'scr_1', name: 'task-2', state: 'completed', scoring_contract_result: scored(0.5) },
    { id: 'scr_2', name: 'task-10', state: 'failed' },
    { id: 'scr_3', name: 'build', state: 'completed', scoring_contract_result: scored(1) },
    { id: 'scr_4', name: 'task-3', state: 'completed', scoring_contract_result: scored(0) },
  ])
  const failures = new Map([['scr_2', { exception_type: 'ApiError', exception_message: 'Rate limit of the Build' }]])
  const found = (view: object) => matchingRuns(runs, failures, view).map(({ id }) => id)
  expect(found({})).toHaveLength(4)
  expect(found({ search: 'BUILD' })).toEqual(['scr_2', 'scr_3'])
  expect(found({ state: 'failed' })).toEqual(['scr_2'])
  expect(found({ failure: 'ApiError' })).toEqual(['scr_2'])
  for (const [score, id] of [
    ['pass', 'scr_3'],
    ['partial', 'scr_1'],
    ['zero', 'scr_4'],
    ['none', 'scr_2'],
  ])
    expect(found({ score })).toEqual([id])
  const text = textOf(runs, { sort: '-score' }, failures)
  expect(text).toMatch(/build.*task-2.*task-3.*task-10.*ApiError: Rate limit/)
  expect(textOf(runs, { sort: 'name' })).toMatch(/build.*task-2.*task-3.*task-10/)
  expect(textOf(runs, { search: 'task', state: 'completed' })).toContain('Showing 2 of 4 scenario runs')
  expect(textOf(runs, { search: 'nothing' })).toContain('No scenario run matches.')
})

it('groups scenario runs without a scenario id by name', () => {
  const run = (id: string, name: string) => ({ id, name, state: 'completed' })
  expect(textOf([run('scr_1', 'a'), run('scr_2', 'b')])).not.toMatch(/\d of 2/)
  expect(textOf([run('scr_1', 'a'), run('scr_2', 'a')])).toMatch(/2 of 2.*1 of 2/)
  expect(textOf([run('scr_1', ' ')])).toContain('Unnamed scenario')
})

describe('scenario runs of an imported job', () => {
  const run = (id: string, rewards: Record<string, number> | null, judged = '') => ({
    id,
    name: `task ${id}`,
    state: 'completed',
    start_time_ms: null,
    duration_ms: null,
    scoring_contract_result: rewards && {
      score: rewards[judged],
      scoring_function_results: Object.entries(rewards).map(([scoring_function_name, score]) => ({
        scoring_function_name,
        score,
        output: '',
        state: 'complete',
      })),
    },
  })
  const metricOf = (runs: object[]) => metricOfRuns(readLeniently(ScenarioRunList, { runs }).runs)

  it('show missing times as unknown', () => {
    const text = textOf([run('1', { reward: 0.25 }, 'reward')])
    expect(text).toMatch(/task 1.*0\.250.*Unknown.*Unknown/)
    expect(text).not.toMatch(/1970|0 ms/)
    expect(textOf([{ ...run('1', null), state: 'running' }])).not.toMatch(/Unknown.*Unknown/)
  })

  it('share the reward key of their scores', () => {
    const [one, two] = [
      { accuracy: 0.5, speed: 0.5 },
      { accuracy: 0.25, speed: 12 },
    ]
    expect(metricOf([run('1', one, 'accuracy'), run('2', two, 'accuracy'), run('3', null)])).toBe('accuracy')
    expect(metricOf([run('1', one, 'speed'), run('2', two, 'speed')])).toBe('speed')
    expect(metricOf([run('1', null)])).toBeNull()
    expect(metricOf([run('1', one, 'speed'), run('2', { accuracy: 1 }, 'accuracy')])).toBe('accuracy')
    expect(metricOf([run('1', { a: 1 }, 'a'), run('2', { b: 1 }, 'b')])).toBeNull()
  })
})
