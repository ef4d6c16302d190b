import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Endpoint, fillPath } from '#lib/contract/endpoint.ts'
import { endpoints } from '#lib/contract/index.ts'
import { agent, createJob, makeScenarios } from '#lib/service/testing/jobs.ts'
import { startService, statusOf, type TestService } from '#lib/service/testing/service.ts'

/** One record of each kind, in account `test`. Calls are made by account `other`. */
let service: TestService
let ids: Record<string, string>

const idOf = (path: string): keyof typeof ids => {
  if (path.startsWith('/v1/devboxes/disk_snapshots/')) return 'snapshot'
  if (path.startsWith('/v1/scenarios/runs/')) return 'scenarioRun'
  if (path.startsWith('/v1/scenarios/scorers/')) return 'scorer'
  if (/^\/v1\/benchmark(s\/|_)runs\//.test(path)) return 'benchmarkRun'
  const [, resource] = /^(?:\/v1)?\/([^/]+)/.exec(path) ?? []
  const known: Record<string, string> = {
    devboxes: 'devbox',
    scenarios: 'scenario',
    benchmarks: 'benchmark',
    benchmark_jobs: 'job',
    axons: 'axon',
    blueprints: 'blueprint',
    'network-policies': 'policy',
    'gateway-configs': 'gateway',
    'mcp-configs': 'mcp',
    objects: 'object',
    agents: 'agent',
  }
  return known[resource ?? ''] ?? ''
}

const paramsOf = ({ path }: Endpoint) => ({
  id: ids[idOf(path)],
  devbox_id: ids.devbox,
  execution_id: ids.execution,
  session_name: `${ids.devbox}-main`,
  name: 'SECRET',
  key: 'team',
})

const bodies: Record<string, object> = {
  'devboxes.waitForStatus': { statuses: ['running'] },
  'executions.executeSync': { command: 'touch ~/crossed' },
  'executions.executeAsync': { command: 'touch ~/crossed' },
  'executions.execute': { command: 'touch ~/crossed' },
  'executions.waitForStatus': { statuses: ['completed'] },
  'executions.sendStdIn': { text: 'crossed\n' },
  'files.read': { file_path: 'kept' },
  'files.write': { file_path: 'crossed', contents: 'x' },
  'files.download': { path: 'kept' },
  'terminals.control': { action: 'close' },
  'secrets.update': { value: 'crossed' },
  'axons.publish': { event_type: 'a', origin: 'USER_EVENT', payload: '{}', source: 's' },
  'axons.query': { sql: 'select 1' },
  'axons.batch': { statements: [{ sql: 'create table crossed (a)' }] },
  'scenarios.updateScorer': { type: 'crossed', bash_script: 'echo' },
  'benchmarkJobs.setConcurrency': { n_concurrent_trials: 1 },
}

beforeAll(async () => {
  service = await startService()
  const { client } = service
  await client.secrets.create({ body: { name: 'SECRET', value: 'sesame' } })
  const policy = await client.networkPolicies.create({ body: { name: 'deny all', allow_all: false } })
  const config = { name: 'config', endpoint: 'https://api.example.com', auth_mechanism: { type: 'bearer' as const } }
  const gateway = await client.gatewayConfigs.create({ body: config })
  const mcp = await client.mcpConfigs.create({ body: { ...config, allowed_tools: ['*'] } })
  const object = await client.objects.create({ body: { name: 'object', content_type: 'text' } })
  const named = await client.agents.create({ body: { name: 'agent' } })
  const axon = await client.axons.create({ body: { name: 'axon', metadata: { team: 'a' } } })
  const devbox = await client.devboxes.createAndAwaitRunning({ body: { metadata: { team: 'a' }, tunnel: {} } })
  const params = { id: devbox.id }
  await client.executions.executeSync({ params, body: { command: 'echo kept >kept' } })
  const execution = await client.executions.executeAsync({ params, body: { command: 'cat', attach_stdin: true } })
  const snapshot = await client.snapshots.create({ params, body: {} })
  await client.terminals.connect({ params: { session_name: `${devbox.id}-main` } })
  const blueprint = await client.blueprints.create({ body: { name: 'blueprint' } })
  for await (const _ of client.blueprints.tailLogs({ params: { id: blueprint.id } }));
  const scorer = await client.scenarios.createScorer({ body: { type: 'mine', bash_script: 'echo score=1' } })
  const [scenario = ''] = await makeScenarios(client, 1)
  const benchmark = await client.benchmarks.create({ body: { name: 'benchmark', scenario_ids: [scenario] } })
  const benchmarkRun = await client.benchmarks.startRun({ body: { benchmark_id: benchmark.id } })
  const scenarioRun = await client.scenarioRuns.start({
    body: { scenario_id: scenario, benchmark_run_id: benchmarkRun.id },
  })
  const job = await createJob(client, {
    type: 'scenarios',
    scenario_ids: [scenario],
    agent_configs: [agent('slow', 'sleep 1000')],
  } as never)
  ids = {
    devbox: devbox.id,
    execution: execution.execution_id,
    snapshot: snapshot.id,
    blueprint: blueprint.id,
    policy: policy.id,
    gateway: gateway.id,
    mcp: mcp.id,
    object: object.id,
    agent: named.id,
    axon: axon.id,
    scorer: scorer.id,
    scenario,
    benchmark: benchmark.id,
    benchmarkRun: benchmarkRun.id,
    scenarioRun: scenarioRun.id,
    job: job.id,
  }
})
afterAll(() => service.close())

const call = async ({ method, bodyFormat }: Endpoint, path: string, body: object, key = service.otherKey) => {
  const form = new FormData()
  form.set('path', 'crossed')
  form.set('file', new Blob(['x']))
  const json = { headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } }
  const sent = bodyFormat ? { body: form, headers: { authorization: `Bearer ${key}` } } : json
  const link = bodyFormat === 'binary' || path.endsWith('/content') ? '?expires=9999999999999&signature=guess' : ''
  const response = await fetch(service.url + path + link, {
    method,
    ...sent,
    ...(method === 'POST' && !bodyFormat && { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

/** Implemented endpoints of a single record. */
const recordEndpoints = endpoints.filter(
  ({ id, path, operator, response }) =>
    path.includes(':') &&
    !path.includes(':key') &&
    !operator &&
    response.kind !== 'websocket' &&
    !id.startsWith('hostedOnly'),
)

const changing = ['devboxes.usage', 'benchmarkJobs.get', 'objects.download']

const readAll = async () => {
  const reads = recordEndpoints.filter(({ id, method, path, response }) => {
    const isRead = method === 'GET' && response.kind === 'json' && !path.startsWith('/pty/')
    return isRead && !changing.includes(id)
  })
  const responses = reads.map(async (each) => {
    const { text } = await call(each, fillPath(each.path, paramsOf(each)), {}, service.key)
    // Ignores usage, which changes over time.
    return [each.id, text.replace(/,?\{[^{}]*"source":"stats"[^{}]*\}|"last_used_ms":\w+,/g, '')]
  })
  return Object.fromEntries(await Promise.all(responses))
}

it('returns 404 for every record of another account and changes nothing', async () => {
  const before = await readAll()
  const results: Record<string, unknown> = {}
  for (const endpoint of recordEndpoints) {
    const params = paramsOf(endpoint)
    const { status, text } = await call(endpoint, fillPath(endpoint.path, params), bodies[endpoint.id] ?? {})
    const isLeaked = Object.values(params).some((id) => text.replace(/"message":"[^"]*"/, '').includes(`${id}`))
    results[endpoint.id] = isLeaked ? text : status
  }
  const statusOfId = (id: string) => (id.startsWith('terminals') ? 400 : id.endsWith('Content') ? 403 : 404)
  const expected = recordEndpoints.map(({ id }) => [id, statusOfId(id)])
  expect(results).toEqual(Object.fromEntries(expected))
  expect(await readAll()).toEqual(before)
})

it('rejects IDs of another account in a body', async () => {
  const { otherClient: client } = service
  const spec = { type: 'scenarios', agent_configs: [agent('nop', 'true')] }
  const scenario_ids = [ids.scenario ?? '']
  const calls: [what: string, status: number, call: () => Promise<unknown>][] = [
    ['a snapshot', 404, () => client.devboxes.create({ body: { snapshot_id: ids.snapshot } })],
    ['a policy', 400, () => client.devboxes.create({ body: { launch_parameters: { network_policy_id: ids.policy } } })],
    ['a secret', 400, () => client.devboxes.create({ body: { secrets: { A: 'SECRET' } } })],
    ['a scenario to run', 404, () => client.scenarioRuns.start({ body: { scenario_id: ids.scenario ?? '' } })],
    [
      'a benchmark run',
      404,
      async () => {
        const [scenario_id = ''] = await makeScenarios(client, 1)
        return client.scenarioRuns.start({ body: { scenario_id, benchmark_run_id: ids.benchmarkRun } })
      },
    ],
    ['a benchmark to run', 404, () => client.benchmarks.startRun({ body: { benchmark_id: ids.benchmark ?? '' } })],
    ['scenarios of a benchmark', 400, () => client.benchmarks.create({ body: { name: 'mine', scenario_ids } })],
    ['scenarios of a job', 400, () => createJob(client, { ...spec, scenario_ids } as never)],
    [
      'a benchmark of a job',
      400,
      () => createJob(client, { ...spec, type: 'benchmark', benchmark_id: ids.benchmark } as never),
    ],
  ]
  for (const [what, status, make] of calls) expect([what, await statusOf(make())]).toEqual([what, status])
})
