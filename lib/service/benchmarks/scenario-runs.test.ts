import { RunloopSDK } from '@runloop/api-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

describe.each([
  ['HTTP/2, its default', {}],
  ['HTTP/1.1', { http2: false }],
])('a scenario run of the public client over %s', (_, transport) => {
  it('starts, runs commands, scores and completes', async () => {
    const sdk = new RunloopSDK({ bearerToken: service.key, baseURL: service.url, maxRetries: 0, ...transport })
    const { id } = await sdk.api.scenarios.create({
      name: 'write the answer',
      input_context: { problem_statement: 'Write 42 into answer' },
      scoring_contract: {
        scoring_function_parameters: [
          { name: 'there', weight: 0.25, scorer: { type: 'command_scorer', command: 'test -f answer' } },
          { name: 'right', weight: 0.75, scorer: { type: 'bash_script_scorer', bash_script: 'echo score=0.5' } },
        ],
      },
      environment_parameters: { working_directory: 'work' },
    })
    const run = await sdk.scenario.fromId(id).run({ run_name: 'first', metadata: { env: 'test' } })
    expect((await run.devbox.cmd.exec('echo 42 >work/answer')).exitCode).toBe(0)
    expect((await run.score()).state).toBe('scoring')
    expect(await run.getInfo()).toMatchObject({ state: 'scoring', scoring_contract_result: null })
    expect(await run.awaitScored()).toMatchObject({
      state: 'scored',
      scoring_contract_result: {
        score: 0.625,
        scoring_function_results: [
          { scoring_function_name: 'there', score: 1, state: 'complete' },
          { scoring_function_name: 'right', score: 0.5, state: 'complete', output: 'score=0.5\n' },
        ],
      },
    })
    expect(await run.complete()).toMatchObject({ state: 'completed', name: 'first', metadata: { env: 'test' } })
    await expect
      .poll(() => run.devbox.getInfo())
      .toMatchObject({
        status: 'shutdown',
        initiator_type: 'scenario',
        initiator_id: run.id,
      })
    expect(await run.getScore()).toMatchObject({ score: 0.625 })
  })
})
