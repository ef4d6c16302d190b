import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mask, valuesOfHeader } from '#lib/protocol/mask.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { clientFor } from '../upstream/client.ts'
import { maskingFetch } from './masking.ts'

const yaml = 'agents:\n- name: one\n  env:\n    API_KEY: SENTINEL_1\n    OTHER_KEY: SENTINEL_2\n    MODE: fast\n'
const kwargs = { api_key: 'SENTINEL_3', url: 'https://me:SENTINEL_4@host/', model: 'gpt-4.1' }
const agent = {
  name: 'one',
  type: 'job_agent',
  kwargs,
  agent_environment: { environment_variables: { A_TOKEN: 'SENTINEL_5', NODE_ENV: 'x' }, secrets: { KEY: 'stored' } },
}
const job = {
  id: 'bmj_1',
  name: 'job',
  state: 'completed',
  create_time_ms: 1,
  job_source: { type: 'harbor', inline_yaml: yaml },
  job_spec: { scenario_ids: [], agent_configs: [agent] },
}
const run = {
  id: 'bmr_1',
  state: 'running',
  start_time_ms: 1,
  metadata: {},
  environment_variables: { X_SECRET: 'SENTINEL_6' },
}

/** A fake service with one job that records requests. */
let service: Awaited<ReturnType<typeof startServer>>
let sent: string[]
let gateway: TestConsole
let cookie: string
beforeAll(async () => {
  service = await startServer(async (request, response) => {
    const { method, url = '' } = request
    response.setHeader('content-type', 'application/json')
    if (method === 'POST') {
      let body = ''
      for await (const chunk of request.on('error', () => undefined)) body += chunk
      sent.push(body)
    }
    const answers: Record<string, unknown> = {
      '/v1/accounts/me': { id: 'acc', name: 'Somebody' },
      '/v1/benchmark_jobs/bmj_1': job,
      '/v1/benchmark_jobs': method === 'POST' ? job : { jobs: [job, job], has_more: false },
      '/v1/benchmark_jobs/bmj_long': {
        ...job,
        job_source: { type: 'harbor', inline_yaml: 'token: x\n'.repeat(20_000) },
      },
      '/v1/benchmark_runs/bmr_1': run,
    }
    const answer = answers[url]
    if (url.endsWith('bmj_long')) sent.push('bmj_long')
    response.statusCode = answer ? 200 : 404
    response.end(JSON.stringify(answer ?? { code: 'not_found', message: 'There is none', request_id: 'r' }))
  })
  gateway = await startConsole(service)
  cookie = await gateway.signIn('ak_somebody')
})
afterAll(async () => {
  await gateway.close()
  service.close()
})
beforeEach(() => {
  sent = []
})

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  gateway.fetch(path, {
    method: 'POST',
    cookie,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

describe('responses', () => {
  it.each(['/v1/benchmark_jobs/bmj_1', '/v1/benchmark_jobs', '/v1/benchmark_runs/bmr_1', '/v1/benchmarks/runs/bmr_1'])(
    'of %s contain no secret values',
    async (path) => {
      const text = await (await gateway.fetch(`/api${path}`, { cookie })).text()
      expect(text).not.toContain('SENTINEL')
    },
  )

  it('keep harmless values and the names of stored secrets', async () => {
    const text = await (await gateway.fetch('/api/v1/benchmark_jobs/bmj_1', { cookie })).text()
    for (const each of [mask, 'MODE: fast', 'gpt-4.1', 'NODE_ENV', 'stored', 'API_KEY']) expect(text).toContain(each)
  })

  it('are also masked for server rendering', async () => {
    const read = await clientFor('ak_somebody', 5_000, maskingFetch('ak_somebody')).benchmarkJobs.get({
      params: { id: 'bmj_1' },
    })
    expect(JSON.stringify(read)).not.toContain('SENTINEL')
    expect(JSON.stringify(read)).toContain('MODE: fast')
  })
})

it('serves other accounts while it masks long job files', async () => {
  const other = await gateway.signIn('ak_another')
  const answered: string[] = []
  const ask = async (who: string, path: string, cookie: string) => {
    await (await gateway.fetch(path, { cookie })).text()
    answered.push(who)
  }
  const long = Array.from({ length: 8 }, () => ask('one', '/api/v1/benchmark_jobs/bmj_long', cookie))
  // Later requests are read while the first is being masked.
  await expect.poll(() => sent).toContain('bmj_long')
  await Promise.all([...long, ask('another', '/api/v1/benchmark_runs/bmr_1', other)])
  expect(answered.indexOf('another')).toBeLessThan(4)
})

describe('POST /api/reveal', () => {
  const at = (...pointer: (string | number)[]) => ({ job_id: 'bmj_1', pointer })

  it('200 with one value', async () => {
    const first = await post('/api/reveal', at('job_spec', 'agent_configs', 0, 'kwargs', 'api_key'))
    expect(await first.json()).toEqual({ value: 'SENTINEL_3' })
    const file = await post('/api/reveal', at('job_source', 'inline_yaml'))
    expect(await file.json()).toEqual({ value: yaml })
  })

  it('is recorded in the activity without the value', async () => {
    await post('/api/reveal', at('job_spec', 'agent_configs', 0, 'kwargs', 'api_key'))
    await post('/api/reveal', at('noted'))
    const answer = await (await gateway.fetch('/api/activity?search=reveal&limit=2', { cookie })).text()
    expect(JSON.parse(answer).activities).toMatchObject([
      { operation: 'benchmarkJobs.reveal', subject: 'bmj_1/noted', status: 404 },
      { operation: 'benchmarkJobs.reveal', subject: 'bmj_1/job_spec/agent_configs/0/kwargs/api_key', status: 200 },
    ])
    expect(answer).not.toContain('SENTINEL')
  })

  it('403 for another site, 401 without a session, 400 and 404 for invalid paths', async () => {
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await post('/api/reveal', at('name'), foreign)).status).toBe(403)
    const stranger = await gateway.fetch('/api/reveal', {
      method: 'POST',
      body: JSON.stringify(at('name')),
      headers: { 'content-type': 'application/json' },
    })
    expect(stranger.status).toBe(401)
    expect((await post('/api/reveal', { job_id: '../x', pointer: ['a'] })).status).toBe(400)
    expect((await post('/api/reveal', at('job_spec', 'constructor'))).status).toBe(404)
    expect((await post('/api/reveal', { job_id: 'bmj_2', pointer: ['name'] })).status).toBe(404)
  })
})

describe('a new job', () => {
  const shown = async () => (await gateway.fetch('/api/v1/benchmark_jobs/bmj_1', { cookie })).json()
  const create = (spec: unknown, headers?: Record<string, string>) =>
    post('/api/v1/benchmark_jobs', { name: 'again', spec }, headers)
  const again = { [valuesOfHeader]: 'bmj_1' }

  it('400 for a mask in place of a value, also escaped', async () => {
    for (const written of [mask, '\\u2022'.repeat(8)]) {
      const body = `{"spec":{"type":"harbor","inline_yaml":"API_KEY: ${written}"}}`
      const answer = await post('/api/v1/benchmark_jobs', body)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ code: 'invalid_argument', field: 'spec' })
    }
    expect(sent).toEqual([])
  })

  it('gets the values of the job it was cloned from, despite edits', async () => {
    const { job_source } = await shown()
    const changed = `# again\n${job_source.inline_yaml.replace('MODE: fast', 'MODE: slow')}`
    expect((await create({ type: 'harbor', inline_yaml: changed }, again)).status).toBe(200)
    const [body = '{}'] = sent
    expect(JSON.parse(body).spec.inline_yaml).toBe(`# again\n${yaml.replace('MODE: fast', 'MODE: slow')}`)
  })

  it('gets the values of its agents', async () => {
    const { job_spec } = await shown()
    const spec = { type: 'scenarios', scenario_ids: ['s'], agent_configs: job_spec.agent_configs }
    expect((await create(spec, again)).status).toBe(200)
    expect(JSON.parse(sent[0] ?? '{}').spec.agent_configs).toEqual([agent])
  })

  it('400 for a mask without a value in that job', async () => {
    const yamlAnswer = await create({ type: 'harbor', inline_yaml: `agents:\nNEW_KEY: ${mask}` }, again)
    expect(yamlAnswer.status).toBe(400)
    expect(await yamlAnswer.json()).toMatchObject({
      field: 'spec.inline_yaml',
      message: expect.stringContaining('line 2'),
    })
    const agents = [{ ...agent, kwargs: { other_key: mask } }]
    const agentAnswer = await create({ type: 'scenarios', scenario_ids: ['s'], agent_configs: agents }, again)
    expect(await agentAnswer.json()).toMatchObject({ field: 'spec.agent_configs.0.kwargs.other_key' })
    expect(sent).toEqual([])
  })
})
