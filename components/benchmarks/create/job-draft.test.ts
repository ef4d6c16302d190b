import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { follow } from '#lib/service/testing/jobs.ts'
import { startService } from '#lib/service/testing/service.ts'
import { areShown, callOf, exampleFile, type JobDraft, newAgent, newJob, refusedFields } from './job-draft.ts'

const draft = (part: Partial<JobDraft>): JobDraft => ({ ...newJob, ...part })
const problems = (part: Partial<JobDraft>) => {
  const call = callOf(draft(part))
  return 'problems' in call ? Object.fromEntries(call.problems) : {}
}
const agent = { ...newAgent(0), name: 'solver', command: 'true' }

describe('callOf', () => {
  it('makes the call of each source, with nothing that was not typed', () => {
    expect(callOf(draft({ yaml: 'agents: []', name: ' x ' }))).toEqual({
      body: { name: 'x', spec: { type: 'harbor', inline_yaml: 'agents: []' } },
    })
    const of = { agents: [agent], attempts: '2' }
    expect(callOf(draft({ source: 'benchmark', benchmark: { id: 'bmd_1', name: 'b' }, ...of }))).toEqual({
      body: {
        spec: {
          type: 'benchmark',
          benchmark_id: 'bmd_1',
          agent_configs: [{ name: 'solver', type: 'job_agent', kwargs: { command: 'true' } }],
          orchestrator_config: { n_attempts: 2 },
        },
      },
    })
    const full = {
      ...agent,
      model: 'm',
      timeout: '30',
      variables: [{ key: 'A', value: '1' }],
      secrets: [{ key: 'TOKEN', value: 'MY_TOKEN' }],
    }
    expect(
      callOf(draft({ source: 'scenarios', scenarios: [{ id: 'scn_1', name: 's' }], agents: [full] })),
    ).toMatchObject({
      body: {
        spec: {
          scenario_ids: ['scn_1'],
          agent_configs: [
            {
              model_name: 'm',
              timeout_seconds: 30,
              agent_environment: { environment_variables: { A: '1' }, secrets: { TOKEN: 'MY_TOKEN' } },
            },
          ],
        },
      },
    })
  })

  it('names every field that is wrong, and none of a source that is not chosen', () => {
    expect(problems({})).toEqual({ 'spec.inline_yaml': 'A job file is needed' })
    expect(Object.keys(problems({ source: 'benchmark' }))).toEqual(['spec.benchmark_id', 'spec.agent_configs[0].name'])
    const wrong = { ...agent, timeout: 'soon', variables: [{ key: '', value: '1' }] }
    const found = problems({
      source: 'scenarios',
      name: 'x'.repeat(300),
      agents: [agent, wrong],
      attempts: '1.5',
      concurrency: 'many',
    })
    expect(Object.keys(found).sort()).toEqual([
      'name',
      'spec.agent_configs[1].agent_environment.environment_variables',
      'spec.agent_configs[1].timeout_seconds',
      'spec.orchestrator_config.n_attempts',
      'spec.orchestrator_config.n_concurrent_trials',
      'spec.scenario_ids',
    ])
    expect(found['spec.orchestrator_config.n_attempts']).toBe('must be a whole number')
    expect(found['spec.agent_configs[1].timeout_seconds']).toBe('must be a number')
  })
})

it('reads a refusal of the service by its fields', () => {
  const message =
    'spec.agent_configs[0].name: there is no agent "x" here\nspec.scenario_ids[1]: is archived\nspec.agent_configs[0].name: again\nand 3 more'
  expect(Object.fromEntries(refusedFields(message, 'spec'))).toEqual({
    'spec.agent_configs[0].name': 'there is no agent "x" here; again',
    'spec.scenario_ids[1]': 'is archived',
  })
  expect(areShown(refusedFields(message, 'spec'))).toBe(true)
  expect(areShown(refusedFields('spec.agent_configs: must name at most 64 agents', 'spec'))).toBe(false)
  expect(areShown(new Map())).toBe(false)
  expect(Object.fromEntries(refusedFields('must be unique', 'name'))).toEqual({ name: 'must be unique' })
  expect(refusedFields('The service is away', undefined).size).toBe(0)
})

it.runIf(strongestIsolation === 'bubblewrap')('has an example of a job file that works as typed', async () => {
  const service = await startService({ datasets: [join(import.meta.dirname, '../../../samples')] })
  const call = callOf(draft({ yaml: exampleFile }))
  if ('problems' in call) throw new Error('the example is not whole')
  const { id } = await service.client.benchmarkJobs.create({ body: call.body })
  // Its tasks are read after the answer where that takes long.
  await follow(service.client, id, ({ job_spec }) => (job_spec?.scenario_ids.length ?? 0) > 0)
  await service.close()
})
