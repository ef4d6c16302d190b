import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { readZip } from '#lib/service/testing/zip.ts'

let service: TestService
let benchmarkRunId: string
let run: { id: string; devbox_id: string }
beforeAll(async () => {
  service = await startService()
  const { client } = service
  await client.secrets.create({ body: { name: 'TOKEN', value: 'hunter2' } })
  const scenario = await client.scenarios.create({
    body: {
      name: 'say "hi"',
      input_context: { problem_statement: 'Print something' },
      scoring_contract: {
        scoring_function_parameters: [{ name: 'ok', weight: 1, scorer: { type: 'command_scorer', command: 'true' } }],
      },
    },
  })
  const benchmark = await client.benchmarks.create({ body: { name: 'b', scenario_ids: [scenario.id] } })
  benchmarkRunId = (
    await client.benchmarks.startRun({ body: { benchmark_id: benchmark.id, run_name: 'Überlauf "1"' } })
  ).id
  run = await client.scenarioRuns.start({
    body: {
      scenario_id: scenario.id,
      benchmark_run_id: benchmarkRunId,
      runProfile: { secrets: { API_TOKEN: 'TOKEN' } },
    },
  })
  await client.devboxes.waitForStatus({ params: { id: run.devbox_id }, body: { statuses: ['running'] } })
  await client.executions.executeSync({
    params: { id: run.devbox_id },
    body: { command: 'echo "the token is $API_TOKEN"' },
  })
})
afterAll(() => service.close())

const download = (path: string, init: RequestInit = {}) => service.fetch(path, { method: 'POST', ...init })
const entriesOf = async (response: Response) => {
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/zip')
  const entries = readZip(Buffer.from(await response.arrayBuffer()))
  return Object.fromEntries(entries.map(({ name, content }) => [name, content.toString()]))
}

describe('POST /v1/scenarios/runs/{id}/download_logs', () => {
  it('200 with the logs of a running scenario, without its secrets', async () => {
    const entries = await entriesOf(await download(`/v1/scenarios/runs/${run.id}/download_logs`))
    expect(JSON.parse(entries[`${run.id}_results.json`] as string)).toMatchObject({
      scenario_run_id: run.id,
      state: 'running',
      score: null,
    })
    const output = Object.entries(entries).find(([name]) => name.endsWith('_stdout'))
    expect(output?.[1]).toBe('the token is ***\n')
    expect(JSON.stringify(entries)).not.toContain('hunter2')
  })

  it('404 for a run of another account, and an unknown one', async () => {
    const authorization = `Bearer ${service.otherKey}`
    const other = await download(`/v1/scenarios/runs/${run.id}/download_logs`, { headers: { authorization } })
    expect(other.status).toBe(404)
    expect(other.headers.get('content-disposition')).toBeNull()
    expect((await download('/v1/scenarios/runs/scr_none/download_logs')).status).toBe(404)
  })
})

describe.each(['/v1/benchmark_runs', '/v1/benchmarks/runs'])('POST %s/{id}/download_logs', (family) => {
  it('200 with a folder per scenario run', async () => {
    const response = await download(`${family}/${benchmarkRunId}/download_logs`)
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="_berlauf _1_-logs.zip"; filename*=UTF-8''%C3%9Cberlauf%20%221%22-logs.zip`,
    )
    const entries = await entriesOf(response)
    expect(JSON.parse(entries['results.json'] as string)).toMatchObject({
      benchmark_run_id: benchmarkRunId,
      state: 'running',
      scenario_runs: [{ scenario_run_id: run.id }],
    })
    expect(Object.keys(entries)).toContain(`say _hi___1/${run.id}_results.json`)
    expect(JSON.stringify(entries)).not.toContain('hunter2')
  })
})
