import { describe, expect, it } from 'vitest'
import { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { agentsWithRuns } from './job-agents.ts'

const agents = [
  { name: 'solver', model_name: 'acme/small' },
  { name: 'solver', model_name: 'acme/large' },
  { name: 'writer', model_name: null },
]
/** A job of these three agents as another service may return it. */
const agentsOf = (outcomes: object[], runs: object[] = [], specified: object[] | null = agents) =>
  agentsWithRuns(
    readLeniently(BenchmarkJob, {
      id: 'bmj_1',
      name: 'job',
      state: 'running',
      job_spec: specified && { scenario_ids: [], agent_configs: specified },
      benchmark_outcomes: outcomes,
      in_progress_runs: runs,
    }),
  )
const outcome = (benchmark_run_id: string | null, agent_name: string | null, model_name?: string | null) => ({
  benchmark_run_id,
  agent_name,
  model_name,
})
const run = (benchmark_run_id: string, agent_config: object | null) => ({
  benchmark_run_id,
  state: 'running',
  agent_config,
})
const shown = (found: ReturnType<typeof agentsOf>) =>
  found.map(({ place, runId, name, model }) => [place, runId, name, model])

describe('agents of a job', () => {
  // The page showed "4 agents of 3".
  it('are those of the specification where an outcome leaves out its model', () => {
    for (const model of [null, undefined, '', 'small'])
      expect(shown(agentsOf([outcome('bmr_1', 'solver', model)]))).toEqual([
        [0, 'bmr_1', 'solver', model === 'small' ? 'small' : 'acme/small'],
      ])
    // One that names its model goes first, wherever it stands.
    const both = agentsOf([outcome('bmr_1', 'solver'), outcome('bmr_2', 'solver', 'acme/small')])
    expect(shown(both)).toEqual([
      [1, 'bmr_1', 'solver', 'acme/large'],
      [0, 'bmr_2', 'solver', 'acme/small'],
    ])
  })

  it('are those that an external run mentions, or the ones that are left', () => {
    const api = (info?: string | null) => ({ type: 'external_api', info })
    expect(shown(agentsOf([], [run('bmr_1', api('writer via webhook')), run('bmr_2', api(null))]))).toEqual([
      [2, 'bmr_1', 'writer', null],
      [0, 'bmr_2', 'solver', 'acme/small'],
    ])
    expect(shown(agentsOf([], [run('bmr_1', api('Solver (acme/large)'))]))).toEqual([
      [1, 'bmr_1', 'solver', 'acme/large'],
    ])
    const found = agentsOf(
      [outcome('bmr_1', 'solver'), outcome('bmr_2', 'writer')],
      [run('bmr_3', api()), run('bmr_4', null)],
    )
    expect(found.map(({ place }) => place)).toEqual([0, 2, 1, null])
  })

  it('merges an outcome without a run id with the running run', () => {
    const found = agentsOf([outcome(null, 'writer')], [run('bmr_1', { type: 'external_api' })], agents.slice(2))
    expect(found).toMatchObject([{ place: 0, runId: 'bmr_1', name: 'writer', run: { state: 'running' } }])
  })

  it('are named by their runs where the job has no specification or another one', () => {
    expect(
      shown(agentsOf([outcome('bmr_1', 'solver')], [run('bmr_2', { type: 'external_api', info: 'bot' })], null)),
    ).toEqual([
      [null, 'bmr_1', 'solver', null],
      [null, 'bmr_2', 'bot', null],
    ])
    expect(shown(agentsOf([outcome('bmr_1', 'other')]))).toEqual([[null, 'bmr_1', 'other', null]])
  })

  it('are distinguished by the settings that differ once all have an outcome', () => {
    const solver = (kwargs: object | null, more: object = {}) => ({
      name: 'solver',
      model_name: 'acme/small',
      kwargs,
      ...more,
    })
    const outcomes = ['bmr_1', 'bmr_2', 'bmr_3'].map((id) => outcome(id, 'solver', 'acme/small'))
    const differences = (specified: object[], found = outcomes) =>
      agentsOf(found, [], specified).map(({ differs }) => differs)
    expect(
      differences([
        solver({ temperature: 0.2, retry: { max: 3 }, style: 'brief' }, { timeout_seconds: 600 }),
        solver({ temperature: 0.7, retry: { max: 3 }, style: 'brief' }, { timeout_seconds: 900 }),
        solver({ retry: { max: 3 }, style: 'brief' }),
      ]),
    ).toEqual([
      'temperature=0.2, timeout_seconds=600',
      'temperature=0.7, timeout_seconds=900',
      'temperature=unset, timeout_seconds=unset',
    ])
    expect(differences([solver({ x: 1 }), solver({ x: 1 }), solver({ x: 1 })])).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(differences([solver({ x: 1 }), solver({ x: 2 })], outcomes.slice(0, 1))).toEqual([undefined])
    const versions = outcomes.map((each, at) => ({
      ...each,
      scenario_outcomes: [
        { scenario_definition_id: 's', scenario_name: 's', state: 'COMPLETED', agent_version: `1.${at}` },
      ],
    }))
    const one = { environment_variables: { A: '1', B: '1', C: '1', D: '1' }, secrets: { KEY: 'mine' } }
    const two = { environment_variables: { A: '2', B: '2', C: '2', D: '2' }, secrets: { KEY: 'yours' } }
    expect(
      differences(
        [solver(null, { agent_environment: one }), solver(null, { agent_environment: two })],
        versions.slice(0, 2),
      ),
    ).toEqual(['A=1, B=1, C=1, and 2 more', 'A=2, B=2, C=2, and 2 more'])
    expect(differences([solver(null), solver(null)], versions.slice(0, 2))).toEqual(['version=1.0', 'version=1.1'])
  })
})
