import { describe, expect, it } from 'vitest'
import { JobForm, type JobFormValues, newAgent, newJob, rejectedFields } from './job-form.ts'

const parse = (part: Partial<JobFormValues>) => JobForm.safeParse({ ...newJob, ...part })
const problems = (part: Partial<JobFormValues>) =>
  Object.fromEntries(parse(part).error?.issues.map(({ path, message }) => [path.join('.'), message]) ?? [])
const agent = { ...newAgent, name: 'solver', command: 'true' }

describe('JobForm', () => {
  it('returns the request of each source without empty fields', () => {
    expect(parse({ yaml: 'agents: []', name: ' x ' }).data).toEqual({
      name: 'x',
      spec: { type: 'harbor', inline_yaml: 'agents: []' },
    })
    const benchmark = { id: 'bmd_1', name: 'b' }
    expect(parse({ source: 'benchmark', benchmark, agents: [agent], attempts: '2' }).data).toEqual({
      spec: {
        type: 'benchmark',
        benchmark_id: 'bmd_1',
        agent_configs: [{ name: 'solver', type: 'job_agent', kwargs: { command: 'true' } }],
        orchestrator_config: { n_attempts: 2 },
      },
    })
    const full = {
      ...agent,
      model: 'm',
      timeout: '30',
      variables: [{ key: 'A', value: '1' }],
      secrets: [{ key: 'TOKEN', value: 'MY_TOKEN' }],
    }
    expect(parse({ source: 'scenarios', scenarios: [{ id: 'scn_1', name: 's' }], agents: [full] }).data).toMatchObject({
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
    })
  })

  it('reports every invalid field of the chosen source', () => {
    expect(problems({})).toEqual({ yaml: 'Enter a job file' })
    expect(Object.keys(problems({ source: 'benchmark' }))).toEqual(['benchmark', 'agents.0.name'])
    const wrong = { ...agent, timeout: 'soon', variables: [{ key: '', value: '1' }] }
    const found = problems({
      source: 'scenarios',
      name: 'x'.repeat(300),
      agents: [agent, wrong],
      attempts: '1.5',
      concurrency: 'many',
    })
    expect(Object.keys(found).sort()).toEqual([
      'agents.1.timeout',
      'agents.1.variables',
      'attempts',
      'concurrency',
      'name',
      'scenarios',
    ])
    expect([found.attempts, found['agents.1.timeout']]).toEqual(['must be a whole number', 'must be a number'])
  })
})

it('maps rejected fields of the service to form fields', () => {
  const message =
    'spec.agent_configs[0].name: there is no agent "x" here\nspec.scenario_ids[1]: is archived\nspec.agent_configs[0].name: again\nand 3 more'
  expect(Object.fromEntries(rejectedFields(message, 'spec') ?? [])).toEqual({
    'agents.0.name': 'there is no agent "x" here; again',
    scenarios: 'is archived',
  })
  expect(rejectedFields('spec.agent_configs: must name at most 64 agents', 'spec')).toBeNull()
  expect(Object.fromEntries(rejectedFields('must be unique', 'name') ?? [])).toEqual({ name: 'must be unique' })
  expect(rejectedFields('The service is unavailable', null)).toBeNull()
})
