import { describe, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { scenarioRows } from '../grid/scenario-grid.ts'
import { agentRows } from '../job-figures.ts'
import { narrowedToTasks } from './harbor-file.ts'
import { cloneOf, neverBegunWords, rerunOf, unscoredOf } from './run-again.ts'
import { jobOf } from './testing.ts'

const agent = (name: string) => ({ name, type: 'job_agent', timeout_seconds: 5 })
const results = {
  a: { one: [1, 'FAILED' as const], two: 1 },
  b: { one: 0, two: 1, three: 1 },
  c: { one: 'TIMEOUT' as const },
}
const spec = {
  scenario_ids: ['scn_one', 'scn_two', 'scn_three'],
  agent_configs: ['a', 'b', 'c'].map(agent),
  orchestrator_config: { n_concurrent_trials: 2 },
}
const rerun = (job: BenchmarkJob) => {
  const agents = agentRows(job)
  return rerunOf(job, unscoredOf(scenarioRows(job, agents), agents), narrowedToTasks)
}

describe('a clone', () => {
  it('is made of what the job was made of', () => {
    const { agent_configs, orchestrator_config } = spec
    const of = (job_source: BenchmarkJob['job_source']) => cloneOf(jobOf({}, { job_source, job_spec: spec }))
    expect(of({ type: 'harbor', inline_yaml: 'agents: []' })).toEqual({
      spec: { type: 'harbor', inline_yaml: 'agents: []' },
    })
    expect(of({ type: 'benchmark', benchmark_id: 'bmd_1' })).toEqual({
      spec: { type: 'benchmark', benchmark_id: 'bmd_1', agent_configs, orchestrator_config },
    })
    expect(of({ type: 'scenarios' })).toEqual({
      spec: { type: 'scenarios', scenario_ids: spec.scenario_ids, agent_configs, orchestrator_config },
    })
  })

  it('says when nobody knows what the job was made of', () => {
    expect(cloneOf(jobOf({}, { job_source: null }))).toHaveProperty('refusal')
    expect(cloneOf(jobOf({}, { job_source: { type: 'another' }, job_spec: spec }))).toHaveProperty('refusal')
  })
})

describe('running anew what has no score', () => {
  it('takes the scenarios and the agents that have none', () => {
    expect(rerun(jobOf(results, { job_source: { type: 'benchmark', benchmark_id: 'bmd_1' }, job_spec: spec }))).toEqual(
      {
        spec: {
          type: 'scenarios',
          scenario_ids: ['scn_one'],
          agent_configs: [agent('a'), agent('c')],
          orchestrator_config: { n_concurrent_trials: 2 },
        },
      },
    )
  })

  it('is nothing where every attempt has a score, 0 or not', () => {
    expect(rerun(jobOf({ a: { one: 0, two: 1 } }, { job_source: { type: 'scenarios' }, job_spec: spec }))).toEqual({
      refusal: 'Every attempt that has ended has a score',
    })
  })

  it('narrows the file of a Harbor job to the tasks', () => {
    const inline_yaml = '# kept\ndatasets:\n  - path: tasks\n    n_tasks: 5\nagents:\n  - name: a\n'
    expect(rerun(jobOf(results, { job_source: { type: 'harbor', inline_yaml }, job_spec: spec }))).toEqual({
      spec: {
        type: 'harbor',
        inline_yaml: '# kept\ndatasets:\n  - path: tasks\n    task_names:\n      - one\nagents:\n  - name: a\n',
      },
    })
  })
})

describe('a Harbor file narrowed to tasks', () => {
  it('matches names that hold the signs of patterns', () => {
    expect(narrowedToTasks('datasets:\n  - path: t\n', ['a*b', 'c[1]'])).toEqual({
      yaml: 'datasets:\n  - path: t\n    task_names:\n      - a[*]b\n      - c[[]1]\n',
    })
  })

  it('keeps of a list of tasks those of the names', () => {
    expect(narrowedToTasks('tasks:\n  - path: x/one\n  - path: x/two/\n', ['two'])).toEqual({
      yaml: 'tasks:\n  - path: x/two/\n',
    })
  })

  it.each([
    'datasets:\n  - path: a\n  - path: b\n',
    'tasks:\n  - name: org/two\n',
    'datasets:\n  - path: a\ntasks:\n  - path: two\n',
    'agents: [',
    '',
  ])('says that it cannot: %j', (yaml) => expect(narrowedToTasks(yaml, ['two'])).toHaveProperty('refusal'))
})

it('says that trials which never began are no part of what failed', () => {
  expect(neverBegunWords({ finished: 29, total: 135 })).toBe(
    ' 106 trials never began: those of other scenarios are not in it. A clone runs all.',
  )
  expect(neverBegunWords({ finished: 1, total: 2 })).toMatch(/^ 1 trial never began/)
  expect(
    [
      { finished: 2, total: 2 },
      { finished: 2, total: null },
    ].map(neverBegunWords),
  ).toEqual(['', ''])
})
