import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ScenarioUpdate } from '#lib/contract/scenarios.ts'
import { command, makeScenario, scenarioOf, script } from '#lib/service/testing/scenarios.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const post = async (path: string, body: unknown) => {
  const response = await service.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

describe('POST /v1/scenarios', () => {
  it('200 stores all fields', async () => {
    const { client } = service
    const body = scenarioOf(script('echo score=1'), {
      name: 'whole',
      input_context: { problem_statement: 'Do it', additional_context: { hints: ['x'], deep: { n: 1 } } },
      environment_parameters: { working_directory: 'work', launch_parameters: { keep_alive_time_seconds: 60 } },
      metadata: { env: 'prod', __proto__own: 'x' },
      reference_output: 'diff',
      required_environment_variables: ['A'],
      required_secret_names: ['S'],
      scorer_timeout_sec: 30,
      validation_type: 'FORWARD',
    })
    const { environment_parameters, ...rest } = body
    const scenario = await client.scenarios.create({ body })
    expect(scenario).toMatchObject({ ...rest, environment: environment_parameters, status: 'active', is_public: false })
    expect(scenario.id).toMatch(/^scn_/)
    expect(await client.scenarios.get({ params: { id: scenario.id } })).toEqual(scenario)
  })

  it('200 returns lists of requirements for a scenario without any', async () => {
    const scenario = await service.client.scenarios.create({ body: scenarioOf(command('true')) })
    expect(scenario).toMatchObject({ required_environment_variables: [], required_secret_names: [] })
  })

  it('400 on weights that do not sum to 1, and on every other problem with it', async () => {
    const body = {
      ...scenarioOf(command('true')),
      name: '',
      scoring_contract: {
        scoring_function_parameters: [
          { name: 'a', weight: 0.5, scorer: command('true') },
          { name: 'b', weight: 0.4, scorer: command('true') },
        ],
      },
    }
    const weights = 'scoring_contract.scoring_function_parameters: must have weights that sum to 1'
    const message = expect.stringMatching(new RegExp(`name: must not be empty.*${weights}`))
    expect(await post('/v1/scenarios', body)).toMatchObject({ status: 400, body: { field: 'name', message } })
  })

  it.each([
    ['no scoring function', { scoring_contract: { scoring_function_parameters: [] } }, 'at least one'],
    ['an unknown scorer', scenarioOf({ type: 'magic' } as never), 'scorer'],
    [
      'a name with a space',
      { scoring_contract: { scoring_function_parameters: [{ name: 'a b', weight: 1, scorer: command('') }] } },
      'letters',
    ],
    [
      'a test file above the working directory',
      scenarioOf({
        type: 'test_based_scorer',
        test_command: 'true',
        test_files: [{ file_path: 'a/../../b' }, { file_path: '/etc/x' }],
      }),
      'test_files.1.file_path: must be a file below',
    ],
    [
      'an unknown custom scorer',
      scenarioOf({ type: 'custom_scorer', custom_scorer_type: 'unregistered' }),
      'custom scorer unregistered does not exist',
    ],
    ['a timeout of nothing', { scorer_timeout_sec: 0 }, 'scorer_timeout_sec'],
  ])('400 on %s', async (_, change, message) => {
    const response = await post('/v1/scenarios', { ...scenarioOf(command('true')), ...change })
    expect([response.status, response.body.message]).toEqual([400, expect.stringContaining(message)])
  })

  it('400 with both a blueprint and a snapshot', async () => {
    const environment_parameters = { blueprint_id: 'bpt_1', snapshot_id: 'snp_1' }
    const response = await post('/v1/scenarios', { ...scenarioOf(command('true')), environment_parameters })
    expect(response).toMatchObject({ status: 400, body: { field: 'environment_parameters.snapshot_id' } })
  })
})

describe('POST /v1/scenarios/{id}', () => {
  it('200 replaces given fields, ignores null and clears empty values', async () => {
    const { client } = service
    const id = await makeScenario(service, command('true'), {
      metadata: { a: '1' },
      reference_output: 'x',
      validation_type: 'FORWARD',
      required_environment_variables: ['A'],
    })
    const update = (body: ScenarioUpdate) => client.scenarios.update({ params: { id }, body })
    expect(await update({ name: null, metadata: null })).toMatchObject({ name: 'a scenario', metadata: { a: '1' } })
    expect(await update({ input_context: { additional_context: { hint: 1 } }, scoring_contract: {} })).toMatchObject({
      input_context: { problem_statement: 'Solve it', additional_context: { hint: 1 } },
      scoring_contract: { scoring_function_parameters: [{ name: 'it', weight: 1 }] },
    })
    const values = { name: 'other', metadata: {}, reference_output: '', required_environment_variables: [] }
    const environment = { working_directory: '/tmp' }
    const changed = await update({ ...values, validation_type: '', environment_parameters: environment })
    expect(changed).toMatchObject({ ...values, validation_type: null, environment })
    expect(await client.scenarios.get({ params: { id } })).toEqual(changed)
    const scoring_contract = {
      scoring_function_parameters: [{ name: 'a', weight: 0.9, scorer: command('true') }],
    }
    await expect(update({ name: 'unchanged', scoring_contract })).rejects.toMatchObject({ status: 400 })
    expect(await client.scenarios.get({ params: { id } })).toEqual(changed)
  })
})

describe('GET /v1/scenarios', () => {
  it('200 by name, search, validation type, benchmark and metadata, newest first', async () => {
    const { client } = service
    const made: string[] = []
    for (const [i, name] of ['list alpha', 'list beta', 'list alphabet'].entries())
      made.push(
        await makeScenario(service, command('true'), {
          name,
          metadata: { list: i < 2 ? 'low' : 'high', team: 'a' },
          validation_type: i === 1 ? 'REVERSE' : 'FORWARD',
        }),
      )
    const [alpha = '', beta = '', alphabet = ''] = made
    const benchmark = await client.benchmarks.create({ body: { name: 'of lists', scenario_ids: [beta, alpha] } })
    const ids = async (query: object) => (await client.scenarios.list({ query })).scenarios.map(({ id }) => id)
    expect(await ids({ name: 'list alpha' })).toEqual([alphabet, alpha])
    expect(await ids({ search: beta })).toEqual([beta])
    expect(await ids({ name: 'list', validation_type: 'FORWARD' })).toEqual([alphabet, alpha])
    expect(await ids({ benchmark_id: benchmark.id })).toEqual([beta, alpha])
    expect(await ids({ metadata: [{ key: 'list', op: 'in', values: ['high', 'none'] }] })).toEqual([alphabet])
    const page = await client.scenarios.list({ query: { name: 'list', limit: 2 } })
    expect([page.scenarios.length, page.has_more, page.total_count]).toEqual([2, true, 3])
    const rest = await client.scenarios.list({ query: { name: 'list', limit: 2, starting_after: beta } })
    expect([rest.scenarios.map(({ id }) => id), rest.has_more]).toEqual([[alpha], false])
  })

  it('400 for an invalid cursor, and 200 with an empty public list', async () => {
    const { scenarios } = service.client
    await expect(scenarios.list({ query: { starting_after: 'scn_none' } })).rejects.toMatchObject({ status: 400 })
    expect(await scenarios.listPublic({ query: {} })).toEqual({ scenarios: [], has_more: false, total_count: 0 })
  })
})

describe('POST /v1/scenarios/{id}/archive and /unarchive', () => {
  it('200 removes it from lists and filters, and restores it', async () => {
    const { client } = service
    const id = await makeScenario(service, command('true'), { name: 'filed', metadata: { filed: 'yes' } })
    const listed = async () => [
      (await client.scenarios.list({ query: { name: 'filed' } })).scenarios.length,
      (await client.scenarios.metadataKeys()).keys.includes('filed'),
      (await client.scenarios.metadataValues({ params: { key: 'filed' } })).values,
    ]
    for (let i = 0; i < 2; i++) {
      expect((await client.scenarios.archive({ params: { id } })).status).toBe('archived')
      expect(await listed()).toEqual([0, false, []])
    }
    await client.scenarios.update({ params: { id }, body: { metadata: { filed: 'changed' } } })
    expect((await client.scenarios.get({ params: { id } })).metadata).toEqual({ filed: 'changed' })
    expect((await client.scenarios.unarchive({ params: { id } })).status).toBe('active')
    expect(await listed()).toEqual([1, true, ['changed']])
  })
})

describe('/v1/scenarios/scorers', () => {
  it('200 registers, lists, gets and replaces', async () => {
    const { scenarios } = service.client
    const scorer = await scenarios.createScorer({ body: { type: 'length', bash_script: 'echo score=1' } })
    expect(scorer.id).toMatch(/^scs_/)
    expect(await scenarios.getScorer({ params: { id: scorer.id } })).toEqual(scorer)
    expect((await scenarios.listScorers({ query: {} })).scorers).toEqual([scorer])
    const body = { type: 'width', bash_script: 'echo score=0' }
    expect(await scenarios.updateScorer({ params: { id: scorer.id }, body })).toEqual({ id: scorer.id, ...body })
    expect((await service.otherClient.scenarios.listScorers({ query: {} })).total_count).toBe(0)
  })

  it('409 on a type taken by the same account', async () => {
    const { scenarios } = service.client
    const body = { type: 'taken', bash_script: 'true' }
    await scenarios.createScorer({ body })
    const { id } = await scenarios.createScorer({ body: { type: 'free', bash_script: 'true' } })
    await expect(scenarios.createScorer({ body })).rejects.toMatchObject({ status: 409 })
    await expect(scenarios.updateScorer({ params: { id }, body })).rejects.toMatchObject({ status: 409 })
    expect((await service.otherClient.scenarios.createScorer({ body })).type).toBe('taken')
  })

  it('404 for an unknown scorer', async () => {
    const params = { id: 'scs_none' }
    await expect(service.client.scenarios.getScorer({ params })).rejects.toMatchObject({ status: 404 })
    await expect(
      service.client.scenarios.updateScorer({ params, body: { type: 'a', bash_script: 'b' } }),
    ).rejects.toMatchObject({ status: 404 })
  })
})
