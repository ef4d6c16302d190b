import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunLogFile, RunLogs } from '#lib/protocol/run-logs.ts'
import { agent, createJob, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'

let service: TestService
let gateway: TestConsole
let cookie: string
let runId: string
let scenarioRunId: string
const trajectory = '{"steps": [{"message": "done"}]}'
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  gateway = await startConsole(service)
  cookie = await gateway.signIn(service.key)
  const { id } = await createJob(service.client, {
    type: 'scenarios',
    scenario_ids: await makeScenarios(service.client, 2),
    agent_configs: [
      agent(
        'solver',
        `echo 1 > ~/answer; echo this-is-in-the-log; echo -n '${trajectory}' >"$HARBOR_AGENT_LOGS/trajectory.json"`,
      ),
    ],
  })
  const job = await untilEnded(service.client, id)
  runId = job.benchmark_outcomes?.[0]?.benchmark_run_id ?? ''
  scenarioRunId = job.benchmark_outcomes?.[0]?.scenario_outcomes[0]?.scenario_run_id ?? ''
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

const get = (path: string, init: RequestInit & { cookie?: string } = {}) =>
  gateway.fetch(`/api/benchmark-runs/${path}`, { cookie, ...init })
/** Polls until the archive of a run has been read. */
const archiveOf = async (id: string, newerThanMs = 0): Promise<NonNullable<RunLogs['archive']>> => {
  for (;;) {
    const { archive } = (await (await get(`${id}/logs?newer_than=${newerThanMs}`)).json()) as RunLogs
    if (archive) return archive
  }
}
const files = async (): Promise<RunLogFile[]> => (await archiveOf(runId)).files
const fileAt = (path: string, init?: RequestInit) => get(`${runId}/logs/file?${new URLSearchParams({ path })}`, init)

describe('GET /api/scenario-runs/{id}/logs/file', () => {
  const read = (id: string, as: string | undefined) =>
    gateway.fetch(
      `/api/scenario-runs/${id}/logs/file?${new URLSearchParams({ path: `${id}_agent_trajectory.json` })}`,
      { cookie: as },
    )

  it('200 with one file of the archive of that scenario run', async () => {
    expect(await (await read(scenarioRunId, cookie)).text()).toBe(trajectory)
  })

  it('401 without a session, 404 for the scenario run of another account', async () => {
    expect((await read(scenarioRunId, undefined)).status).toBe(401)
    expect((await read(scenarioRunId, await gateway.signIn(service.otherKey))).status).toBe(404)
  })
})

describe('GET /api/benchmark-runs/{id}/logs', () => {
  it('200 with the files of the archive, each of which opens', async () => {
    const listed = await files()
    expect(listed.map(({ path }) => path)).toContain('results.json')
    const results = await fileAt('results.json')
    expect(results.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''results.json")
    expect(await results.json()).toMatchObject({ benchmark_run_id: runId, state: 'completed' })
    const texts: string[] = []
    for (const { path, size_bytes } of listed) {
      const answer = await fileAt(path, { headers: { range: 'bytes=0-' } })
      const bytes = Buffer.from(await answer.arrayBuffer())
      expect([answer.status, bytes.length]).toEqual([size_bytes === 0 ? 200 : 206, size_bytes])
      texts.push(bytes.toString())
    }
    expect(texts.join('')).toContain('this-is-in-the-log')
  })

  it('401 without a session, 403 for another site, 404 for other runs, 409 for another account', async () => {
    expect((await gateway.fetch(`/api/benchmark-runs/${runId}/logs`)).status).toBe(401)
    expect((await get(`${runId}/logs`, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
    const other = await gateway.signIn(service.otherKey)
    for (const path of [`${runId}/logs`, `${runId}/logs/file?path=results.json`]) {
      const answer = await get(path, { cookie: other })
      expect([answer.status, (await answer.json()).code]).toEqual([404, 'not_found'])
    }
    expect((await get('bmr_none/logs')).status).toBe(404)
    expect((await get('%20/logs')).status).toBe(400)
    expect((await get(`${runId}/logs`, { headers: { 'x-devdeck-account': 'acc_other' } })).status).toBe(409)
  })
})

it('returns newer output of a running run with newer_than', async () => {
  const [scenario_id = ''] = await makeScenarios(service.client, 1)
  const benchmark = await service.client.benchmarks.create({ body: { name: 'b', scenario_ids: [scenario_id] } })
  const run = await service.client.benchmarks.startRun({ body: { benchmark_id: benchmark.id } })
  const { devbox_id } = await service.client.scenarioRuns.start({ body: { scenario_id, benchmark_run_id: run.id } })
  await service.client.devboxes.waitForStatus({ params: { id: devbox_id }, body: { statuses: ['running'] } })
  const outputs = async (newerThanMs = 0) =>
    (await archiveOf(run.id, newerThanMs)).files.filter(({ path }) => path.endsWith('/stdout')).length
  expect(await outputs()).toBe(0)
  await service.client.executions.executeSync({ params: { id: devbox_id }, body: { command: 'echo more' } })
  expect(await outputs()).toBe(0)
  const { read_at_ms } = await archiveOf(run.id)
  await expect.poll(() => outputs(read_at_ms), { interval: 200 }).toBe(1)
  await service.client.benchmarkRuns.cancel({ params: { id: run.id } })
})
