import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BenchmarkJobCreate } from '#lib/contract/benchmark-jobs.ts'
import { makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
let scenario_ids: string[]
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  scenario_ids = await makeScenarios(service.client, 2)
})
afterAll(() => service.close())

const post = async (body: unknown, requestId?: string) => {
  const response = await service.fetch('/v1/benchmark_jobs', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(requestId && { 'x-request-id': requestId }) },
    body: JSON.stringify(body),
  })
  return { status: response.status, retry: response.headers.get('x-should-retry'), body: await response.json() }
}
const nop = { name: 'nop', type: 'job_agent' }
const small = (): NonNullable<BenchmarkJobCreate['spec']> => ({ type: 'scenarios', scenario_ids, agent_configs: [nop] })
const names = async (query: { name?: string; limit?: number; starting_after?: string }) =>
  (await service.client.benchmarkJobs.list({ query })).jobs.map(({ name }) => name)

describe('POST /v1/benchmark_jobs', () => {
  it('400 with every problem of a spec', async () => {
    const [first] = scenario_ids
    const archived = await makeScenarios(service.client, 1)
    await service.client.scenarios.archive({ params: { id: archived[0] ?? '' } })
    const before = await service.client.benchmarkJobs.list()
    const { status, body } = await post({
      spec: {
        type: 'scenarios',
        scenario_ids: [first, 'scn_none', first, archived[0]],
        agent_configs: [
          { name: 'undefined-agent', type: 'job_agent' },
          { name: 'empty', type: 'job_agent', kwargs: { command: ' ' }, timeout_seconds: 0 },
          { name: 'x', type: 'human', kwargs: { command: 'true' } },
          {
            name: 'nop',
            type: 'job_agent',
            agent_environment: { environment_variables: { 'A B': '1' }, secrets: { TOKEN: 'MISSING' } },
          },
        ],
        orchestrator_config: { n_concurrent_trials: 0, n_attempts: -1, timeout_multiplier: 0 },
      },
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid_argument', field: 'spec.scenario_ids[1]' })
    expect(body.message.split('\n').map((line: string) => line.split(': ')[0])).toEqual([
      'spec.scenario_ids[1]',
      'spec.scenario_ids[2]',
      'spec.scenario_ids[3]',
      'spec.agent_configs[0].name',
      'spec.agent_configs[1].kwargs.command',
      'spec.agent_configs[1].timeout_seconds',
      'spec.agent_configs[2].type',
      'spec.agent_configs[3].agent_environment.environment_variables.A B',
      'spec.agent_configs[3].agent_environment.secrets',
      'spec.orchestrator_config.n_concurrent_trials',
      'spec.orchestrator_config.n_attempts',
      'spec.orchestrator_config.timeout_multiplier',
    ])
    expect(await service.client.benchmarkJobs.list()).toEqual(before)
    expect((await service.client.benchmarkRuns.list()).runs).toEqual([])
  })

  it.each([
    ['no spec', {}, /^spec: is required/],
    ['an unknown kind of spec', { spec: { type: 'unknown' } }, /spec/],
    ['no scenarios', { spec: { type: 'scenarios', scenario_ids: [], agent_configs: [nop] } }, /at least one scenario/],
    ['no agents', { spec: { type: 'scenarios', scenario_ids: ['scn_x'], agent_configs: [] } }, /at least one agent/],
    ['an unknown benchmark', { spec: { type: 'benchmark', benchmark_id: 'bmd_x', agent_configs: [nop] } }, /bmd_x/],
    ['a job file without bubblewrap', { spec: { type: 'harbor', inline_yaml: 'agents: [' } }, /inline_yaml/],
  ])('400 for %s', async (_, body, message) => {
    const response = await post(body)
    expect(response.status).toBe(400)
    expect(response.body.message).toMatch(message)
  })

  it('400 for agents that lack what a scenario requires', async () => {
    const scenario = await service.client.scenarios.create({
      body: {
        name: 'needy',
        input_context: { problem_statement: '' },
        scoring_contract: {
          scoring_function_parameters: [{ name: 's', weight: 1, scorer: { type: 'command_scorer', command: 'true' } }],
        },
        required_environment_variables: ['REGION'],
      },
    })
    const response = await post({ spec: { type: 'scenarios', scenario_ids: [scenario.id], agent_configs: [nop] } })
    expect(response).toMatchObject({ status: 400, body: { message: expect.stringMatching(/REGION/) } })
  })

  it('409 for a taken name, without a retry', async () => {
    const first = await post({ name: 'taken', spec: small() })
    expect(first).toMatchObject({ status: 200, body: { name: 'taken', state: 'queued' } })
    expect(await post({ name: 'taken', spec: small() })).toMatchObject({ status: 409, retry: 'false' })
    await untilEnded(service.client, first.body.id)
  })

  it('200 with the same job for a repeated request id', async () => {
    const [first, second] = [await post({ spec: small() }, 'again-1'), await post({ spec: small() }, 'again-1')]
    expect(second.body.id).toBe(first.body.id)
    await untilEnded(service.client, first.body.id)
  })
})

describe('GET /v1/benchmark_jobs', () => {
  it('200 by name, in pages, newest first', async () => {
    for (const name of ['list one', 'list two', 'list three'])
      await service.client.benchmarkJobs.create({ body: { name, spec: small() } })
    expect(await names({ name: 'list' })).toEqual(['list three', 'list two', 'list one'])
    expect(await names({ name: 'two' })).toEqual(['list two'])
    const page = await service.client.benchmarkJobs.list({ query: { name: 'list', limit: 2 } })
    expect(page).toMatchObject({ has_more: true, total_count: 3 })
    expect(await names({ name: 'list', limit: 2, starting_after: page.jobs[1]?.id ?? '' })).toEqual(['list one'])
  })

  it('400 for an invalid cursor, and no jobs of another account', async () => {
    expect((await service.fetch('/v1/benchmark_jobs?starting_after=bmj_x')).status).toBe(400)
    expect((await service.otherClient.benchmarkJobs.list()).jobs).toEqual([])
  })
})

describe('GET /v1/benchmark_jobs/:id', () => {
  it('404 for an unknown job and for one of another account', async () => {
    const { id } = await service.client.benchmarkJobs.create({ body: { spec: small() } })
    const missing = { status: 404 }
    await expect(service.otherClient.benchmarkJobs.get({ params: { id } })).rejects.toMatchObject(missing)
    await expect(service.client.benchmarkJobs.get({ params: { id: 'bmj_none' } })).rejects.toMatchObject(missing)
    expect(await untilEnded(service.client, id)).toMatchObject({ state: 'completed' })
  })
})
