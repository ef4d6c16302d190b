import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { wrongKeysPerMinute } from '#lib/limits/wrong-key-limit.ts'
import type { Share } from '#lib/protocol/shares.ts'
import { agent, createJob, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'

let service: TestService
let gateway: TestConsole
let job: BenchmarkJob
let cookie: string
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  gateway = await startConsole(service)
  cookie = await gateway.signIn(service.key)
  const queued = await createJob(service.client, {
    type: 'scenarios',
    scenario_ids: await makeScenarios(service.client, 2),
    agent_configs: [
      {
        ...agent('A', ''),
        kwargs: { command: 'echo 1 > ~/answer', api_key: 'sk-ant-0123456789abcdef' },
        agent_environment: { environment_variables: { TOKEN: 'hunter2-hunter2' } },
      },
    ],
    orchestrator_config: { n_concurrent_trials: 2 },
  })
  job = await untilEnded(service.client, queued.id)
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

const create = (body: object) => gateway.ask(cookie, 'POST', '/api/shares', body)
const shareJob = async (part: object = {}): Promise<{ id: string; path: string }> => {
  const { status, body } = await create({ kind: 'job', params: { job: job.id, failures: 'leave_out' }, ...part })
  expect(status).toBe(200)
  return { id: body.id, path: new URL(body.url).pathname }
}
/** Opens a link as someone without an account who comes from another site. */
const open = (path: string, init: RequestInit = {}) =>
  fetch(gateway.url + path, {
    redirect: 'manual',
    ...init,
    headers: { 'sec-fetch-site': 'cross-site', ...init.headers },
  })
const listed = async (as = cookie): Promise<Share[]> => (await gateway.ask(as, 'GET', '/api/shares')).body.shares

it('opens a report without an account until the link is revoked, and records both', async () => {
  const { id, path } = await shareJob({ expires_days: 3 })
  expect(path).toMatch(/^\/s\/[\w-]{32}$/)
  const answer = await open(path)
  expect(answer.status).toBe(200)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; style-src 'sha256-.*frame-ancestors 'none'$/,
    ),
    'referrer-policy': 'no-referrer',
    'x-robots-tag': expect.stringContaining('noindex'),
    'cache-control': 'no-store',
  })
  expect(answer.headers.has('set-cookie')).toBe(false)
  const page = await answer.text()
  expect(page).toContain('A scores 1.000 (')
  expect(page).toContain('Failures <b>excluded</b>')
  // Neither secrets nor identifiers that mean something elsewhere.
  for (const hidden of ['sk-ant', 'hunter2', job.id, service.key, '/logs/', '/api/']) expect(page).not.toContain(hidden)

  const [share] = await listed()
  expect(share).toMatchObject({ id, title: job.name, logs: false, n_opened: 1, last_opened_ms: expect.any(Number) })
  expect((share?.expires_ms ?? 0) - (share?.created_ms ?? 0)).toBe(3 * 24 * 3600 * 1000)
  expect(JSON.stringify(share)).not.toContain(path.slice(3))

  expect((await gateway.ask(cookie, 'DELETE', `/api/shares/${id}`)).status).toBe(200)
  const revoked = await open(path)
  const unknown = await open(`/s/${'x'.repeat(32)}`)
  expect([revoked.status, unknown.status]).toEqual([404, 404])
  expect(await revoked.text()).toBe(await unknown.text())
  const { activities } = (await gateway.ask(cookie, 'GET', '/api/activity?search=shares.')).body
  expect(
    activities.map(({ operation, subject }: { operation: string; subject: string }) => [operation, subject]),
  ).toEqual([
    ['shares.revoke', id],
    ['shares.create', `${id}/${job.id}`],
  ])
})

it('shares comparisons and trends', async () => {
  for (const [kind, params, text] of [
    ['comparison', { jobs: job.id }, 'Comparison'],
    ['trend', { job: job.id, agent: 'A' }, 'Mean by job'],
  ] as const) {
    const { body } = await create({ kind, params })
    expect(await (await open(new URL(body.url).pathname)).text()).toContain(text)
  }
})

it("gives the logs of the report's runs only if the link includes them", async () => {
  const run = job.benchmark_outcomes?.[0]?.benchmark_run_id ?? ''
  const without = await shareJob()
  expect((await open(`${without.path}/logs/${run}`)).status).toBe(404)
  const { path } = await shareJob({ logs: true })
  expect(await (await open(path)).text()).toContain(`href="${path}/logs/${run}"`)
  const zip = await open(`${path}/logs/${run}`)
  expect([zip.status, zip.headers.get('content-type')]).toEqual([200, 'application/zip'])
  expect(
    Buffer.from(await zip.arrayBuffer())
      .subarray(0, 2)
      .toString(),
  ).toBe('PK')
  expect((await open(`${path}/logs/bmr_other`)).status).toBe(404)
})

it('is invisible to other accounts, which can neither list nor revoke it', async () => {
  const { id, path } = await shareJob()
  const other = await gateway.signIn(service.otherKey)
  expect(await listed(other)).toEqual([])
  expect((await gateway.ask(other, 'DELETE', `/api/shares/${id}`)).status).toBe(404)
  expect((await gateway.ask(other, 'POST', '/api/shares', { kind: 'job', params: { job: job.id } })).status).toBe(404)
  expect((await gateway.fetch('/api/shares')).status).toBe(401)
  expect((await open(path)).status).toBe(200)
})

it.each([
  [{ kind: 'job', params: {} }, 'params.job'],
  [{ kind: 'job', params: { job: 'bmj_1', failures: 'maybe' } }, 'failures'],
  [{ kind: 'job', params: { job: 'bmj_1', token: 'x' } }, 'token'],
  [{ kind: 'run', params: {} }, 'kind'],
  [{ kind: 'trend', params: { job: 'bmj_1' }, expires_days: 366 }, 'expires_days'],
  [{ kind: 'comparison', params: { jobs: '' } }, 'jobs'],
])('refuses %j', async (body, field) => {
  const answer = await create(body)
  expect([answer.status, answer.body.field]).toEqual([400, field])
})

it('explains a report that can no longer be computed', async () => {
  const { path } = await shareJob()
  const secrets = gateway.registry.config.sessionSecrets
  gateway.registry.config.sessionSecrets = ['another secret of at least thirty-two characters']
  const answer = await open(path)
  gateway.registry.config.sessionSecrets = secrets
  expect(answer.status).toBe(410)
  expect(await answer.text()).toContain('The access of the person who shared this report has ended.')
})

it('can be turned off, existing links too', async () => {
  const { path } = await shareJob()
  gateway.registry.config.areSharesEnabled = false
  expect((await open(path)).status).toBe(404)
  expect((await create({ kind: 'job', params: { job: job.id } })).status).toBe(403)
  gateway.registry.config.areSharesEnabled = true
})

it('limits guesses by address', async () => {
  for (let i = 0; i < wrongKeysPerMinute; i++) await open(`/s/guess-${i}`)
  expect((await open('/s/guess')).status).toBe(429)
})
