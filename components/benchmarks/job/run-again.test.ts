import { describe, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { scenarioRows, unscoredOf } from '../grid/scenario-grid.ts'
import { agentRows } from '../job-figures.ts'
import { cloneOf, narrowToTasks, rerunOf } from './run-again-dialog.tsx'
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
  return rerunOf(job, unscoredOf(scenarioRows(job, agents), agents))
}

describe('a clone', () => {
  it('has the source of the job', () => {
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
})

describe('rerunOf', () => {
  it('takes scenarios and agents without a score', () => {
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

  it('is refused if every attempt has a score', () => {
    expect(rerun(jobOf({ a: { one: 0, two: 1 } }, { job_source: { type: 'scenarios' }, job_spec: spec }))).toEqual({
      refusal: 'Every finished attempt has a score',
    })
  })

  it('narrows a Harbor file to the tasks', () => {
    const inline_yaml = '# kept\ndatasets:\n  - path: tasks\n    n_tasks: 5\nagents:\n  - name: a\n'
    expect(rerun(jobOf(results, { job_source: { type: 'harbor', inline_yaml }, job_spec: spec }))).toEqual({
      spec: {
        type: 'harbor',
        inline_yaml: '# kept\ndatasets:\n  - path: tasks\n    task_names:\n      - one\nagents:\n  - name: a\n',
      },
    })
  })
})

describe('narrowToTasks', () => {
  it('escapes patterns', () => {
    expect(narrowToTasks('datasets:\n  - path: t\n', ['a*b', 'c[1]'])).toEqual({
      yaml: 'datasets:\n  - path: t\n    task_names:\n      - a[*]b\n      - c[[]1]\n',
    })
  })

  it('filters a list of tasks', () => {
    expect(narrowToTasks('tasks:\n  - path: x/one\n  - path: x/two/\n', ['two'])).toEqual({
      yaml: 'tasks:\n  - path: x/two/\n',
    })
  })

  it.each([
    'datasets:\n  - path: a\n  - path: b\n',
    'tasks:\n  - name: org/two\n',
    'datasets:\n  - path: a\ntasks:\n  - path: two\n',
    'agents: [',
    '',
  ])('refuses %j', (yaml) => expect(narrowToTasks(yaml, ['two'])).toHaveProperty('refusal'))
})
