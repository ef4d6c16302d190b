import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { LiveNotice, LiveTopic } from '#lib/protocol/live.ts'
import { agent, createJob, follow, makeScenarios } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { TestPage, until } from '../terminals/testing.ts'
import { startConsole, type TestConsole } from '../testing.ts'

/** One account owns one of everything; another account on the same console requests it by id. */
let service: TestService
let gateway: TestConsole
let owner: string
let other: string
let devbox: string
let axon: string
let execution: string
let job: BenchmarkJob
let run: string
let recording: string
let silence: string
let alert: string
let terminal: TestPage
const pages: { socket: { terminate(): void } }[] = []

const livePage = async (cookie: string) => {
  const page = new TestPage(gateway, '/api/live', { cookie })
  pages.push(page)
  await until(() => expect(page.notices).not.toEqual([]))
  const told = () => page.notices as unknown as LiveNotice[]
  const subscribe = (id: number, topic: LiveTopic) =>
    page.socket.send(
      JSON.stringify({ t: 'subscribe', id, topic } satisfies { t: 'subscribe'; id: number; topic: LiveTopic }),
    )
  return { told, subscribe }
}

beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  gateway = await startConsole(service)
  owner = await gateway.signIn(service.key)
  other = await gateway.signIn(service.otherKey)
  const { client } = service
  ;({ id: devbox } = await client.devboxes.createAndAwaitRunning({ body: { name: 'of the owner' } }))
  ;({ id: axon } = await client.axons.create({ body: { name: 'of the owner' } }))
  const started = await client.executions.executeAsync({ params: { id: devbox }, body: { command: 'sleep infinity' } })
  execution = started.execution_id
  const scenario_ids = await makeScenarios(client, 1)
  const queued = await createJob(client, {
    type: 'scenarios',
    scenario_ids,
    agent_configs: [agent('A', 'sleep infinity')],
  })
  job = await follow(client, queued.id, ({ state }) => state === 'running')
  run = (await client.benchmarkRuns.list({ query: {} })).runs[0]?.id ?? ''

  terminal = new TestPage(gateway, `/api/terminals/${devbox}/main?cols=80&rows=24`, { cookie: owner })
  pages.push(terminal)
  await terminal.told({ t: 'people' })
  terminal.ask({ t: 'record', on: true })
  await until(() => expect(terminal.last('recording')?.id).toMatch(/^rec_/))
  recording = terminal.last('recording')?.id ?? ''

  const live = await livePage(owner)
  live.subscribe(1, { endpoint: 'alerts.watch' })
  const wanted = { metadata: { team: 'a' }, until_ms: Date.now() + 3_600_000, comment: 'of the owner' }
  silence = (await gateway.ask(owner, 'POST', '/api/alerts/silences', wanted)).body.id
  await gateway.ask(owner, 'POST', '/api/alerts/drills', { devbox_id: devbox, in_seconds: 3600 })
  await gateway.ask(owner, 'POST', '/api/alerts/followed-jobs', { job_id: job.id })
  alert = await until(async () => {
    const { body } = await gateway.ask(owner, 'GET', '/api/alerts')
    return body.alerts[0].id
  })
})
afterAll(async () => {
  terminal.ask({ t: 'record', on: false })
  await until(() => expect(terminal.last('recording')?.id).toBeNull())
  for (const { socket } of pages) socket.terminate()
  await gateway.close()
  await service.close()
})

it.each<[string, () => [string, string, unknown?]]>([
  ['a recording', () => ['GET', `/api/recordings/${recording}`]],
  ['the summary of a recording', () => ['GET', `/api/recordings/${recording}?view=summary`]],
  ['deleting a recording', () => ['DELETE', `/api/recordings/${recording}`]],
  ['ending a terminal', () => ['DELETE', `/api/terminals/${devbox}/main`]],
  ['following a job', () => ['POST', '/api/alerts/followed-jobs', { job_id: job.id }]],
  ['evicting a devbox', () => ['POST', '/api/alerts/drills', { devbox_id: devbox, in_seconds: 60 }]],
  ['canceling an eviction', () => ['DELETE', `/api/alerts/drills/${devbox}`]],
  ['ending a silence', () => ['DELETE', `/api/alerts/silences/${silence}`]],
  ['the report of a job', () => ['GET', `/api/benchmark-jobs/${job.id}/report`]],
  ['comparing a job', () => ['GET', `/api/benchmark-jobs/compare?jobs=${job.id}`]],
  ['the trend of a job', () => ['GET', `/api/benchmark-jobs/trend?job=${job.id}&agent=A`]],
  ['the logs of a run', () => ['GET', `/api/benchmark-runs/${run}/logs`]],
  ['a file of the logs of a run', () => ['GET', `/api/benchmark-runs/${run}/logs/file?path=a`]],
  ['a value of a job', () => ['POST', '/api/reveal', { job_id: job.id, pointer: ['name'] }]],
])('another account gets 404 for %s', async (_, asked) => {
  const { status, body } = await gateway.ask(other, ...asked())
  expect([status, JSON.stringify(body)]).toEqual([404, expect.not.stringContaining('of the owner')])
})

it.each([
  ['/api/recordings', { recordings: [] }],
  ['/api/alerts', { alerts: [], has_more: false, total_count: 0 }],
  ['/api/activity?outcome=done', { activities: [], has_more: false, total_count: 0 }],
])('another account gets an empty response from %s', async (path, nothing) => {
  expect((await gateway.ask(other, 'GET', path)).body).toEqual(nothing)
  expect((await gateway.ask(owner, 'GET', path)).body).not.toEqual(nothing)
})

it('another account can neither acknowledge alerts nor unfollow the job', async () => {
  const { body } = await gateway.ask(other, 'POST', '/api/alerts/acknowledge', { ids: [alert] })
  expect(body).toEqual({ acknowledged: [], taken: [] })
  await gateway.ask(other, 'DELETE', `/api/alerts/followed-jobs/${job.id}`)
  const { told, subscribe } = await livePage(owner)
  subscribe(1, { endpoint: 'alerts.watch' })
  await until(() => expect(JSON.stringify(told())).toContain('snapshot'))
  const seen = JSON.stringify(told())
  for (const each of [job.id, silence, '"state":"new"']) expect(seen).toContain(each)
})

it('another account gets nothing over its live connection', async () => {
  const { told, subscribe } = await livePage(other)
  const topics: LiveTopic[] = [
    { endpoint: 'executions.streamStdout', params: { devbox_id: devbox, execution_id: execution } },
    { endpoint: 'executions.streamStderr', params: { devbox_id: devbox, execution_id: execution } },
    { endpoint: 'logs.tail', params: { id: devbox } },
    { endpoint: 'axons.subscribe', params: { id: axon } },
    { endpoint: 'benchmarkJobs.get', params: { id: job.id } },
    { endpoint: 'benchmarkRuns.get', params: { id: run } },
    { endpoint: 'benchmarkRuns.scenarioRuns', params: { id: run } },
  ]
  for (const [id, topic] of topics.entries()) subscribe(id, topic)
  await until(() => expect(told().filter(({ t }) => t === 'end')).toHaveLength(topics.length))
  for (const notice of told()) if (notice.t === 'end') expect(notice.error).toMatchObject({ status: 404 })
  expect(told().filter(({ t }) => t === 'data')).toEqual([])
  subscribe(100, { endpoint: 'alerts.watch' })
  await until(() => expect(told().filter(({ t }) => t === 'data').length).toBeGreaterThan(0))
  expect(JSON.stringify(told().filter(({ t }) => t === 'data'))).not.toMatch(
    new RegExp(`${devbox}|${job.id}|${silence}`),
  )
})

it('another account cannot join an open terminal', async () => {
  const page = new TestPage(gateway, `/api/terminals/${devbox}/main?cols=80&rows=24`, { cookie: other })
  expect((await page.closed).code).toBe(4404)
  expect(page.bytes).toBe(0)
})
