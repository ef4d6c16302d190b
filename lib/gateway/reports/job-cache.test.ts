import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Report } from '#lib/protocol/reports.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'

const jobWith = (score: number) =>
  JSON.stringify({
    id: 'bmj_1',
    name: 'nightly',
    state: 'completed',
    benchmark_outcomes: [
      {
        benchmark_run_id: 'bmr_1',
        agent_name: 'A',
        scenario_outcomes: [{ scenario_definition_id: 's', scenario_name: 's', state: 'COMPLETED', score }],
      },
    ],
  })

let service: Awaited<ReturnType<typeof startServer>>
let gateway: TestConsole
let job: { status: number; etag?: string; body: string }
let reads: { ifNoneMatch: string | undefined; status: number }[]
beforeEach(async () => {
  job = { status: 200, body: jobWith(0.5) }
  reads = []
  service = await startServer((request, response) => {
    const isJob = request.url === '/v1/benchmark_jobs/bmj_1'
    const ifNoneMatch = request.headers['if-none-match']
    const status = isJob && job.etag && ifNoneMatch === job.etag ? 304 : isJob ? job.status : 200
    if (isJob) reads.push({ ifNoneMatch, status })
    response.writeHead(status, { 'content-type': 'application/json', ...(isJob && job.etag && { etag: job.etag }) })
    response.end(status === 304 ? undefined : isJob ? job.body : JSON.stringify({ id: 'acc', name: 'Team' }))
  })
  gateway = await startConsole(service)
})
afterEach(async () => {
  await gateway.close()
  service.close()
})

const request = (search = '', key = 'ak_1') =>
  gateway.fetch(`/api/benchmark-jobs/bmj_1/report${search}`, { headers: { authorization: `Bearer ${key}` } })
const meanOf = async (search = '', key = 'ak_1') =>
  ((await (await request(search, key)).json()) as Report).agents[0]?.mean

it('transfers an unchanged job once per key, also for concurrent requests and another choice', async () => {
  job.etag = 'W/"1"'
  expect(await Promise.all([meanOf(), meanOf(), meanOf('?failures=leave_out')])).toEqual([0.5, 0.5, 0.5])
  expect(reads.map(({ status }) => status)).toEqual([200, 304, 304])
  Object.assign(job, { etag: 'W/"2"', body: jobWith(1) })
  expect(await meanOf()).toBe(1)
  expect(reads.at(-1)).toEqual({ ifNoneMatch: 'W/"1"', status: 200 })
  await meanOf('', 'ak_2')
  expect(reads.at(-1)).toEqual({ ifNoneMatch: undefined, status: 200 })
})

it('notices a change of a service without ETags', async () => {
  expect([await meanOf(), await meanOf()]).toEqual([0.5, 0.5])
  job.body = jobWith(0.25)
  expect(await meanOf()).toBe(0.25)
  expect(reads.map(({ status }) => status)).toEqual([200, 200, 200])
})

it.each([401, 403, 404])('does not serve a cached report after a %i', async (status) => {
  job.etag = 'W/"1"'
  expect(await meanOf()).toBe(0.5)
  Object.assign(job, { status, etag: undefined, body: JSON.stringify({ code: 'not_found', message: 'no' }) })
  expect((await request()).status).toBeGreaterThanOrEqual(400)
  Object.assign(job, { status: 200, etag: 'W/"1"', body: jobWith(1) })
  expect(await meanOf()).toBe(1)
})
