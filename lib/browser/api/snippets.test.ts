import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import { ScenarioListQuery } from '#lib/contract/scenarios.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import type { AxonView } from '../address/axon-view.ts'
import { DevboxListView } from '../address/devbox-list-view.ts'
import { JobListView } from '../address/job-list-view.ts'
import { SnapshotListView } from '../address/snapshot-list-view.ts'
import { asCurl, asTypeScript } from './snippets.ts'

const run = promisify(execFile)

const views: AxonView[] = [
  { include_total_count: true },
  { include_total_count: true, limit: 5, search: 'it\'s "$HOME" `id` \\' },
  {
    include_total_count: false,
    metadata: [
      { key: "k'ey", op: 'eq', value: '$(id)' },
      { key: 'list', op: 'in', values: ['a,b', 'c'] },
    ],
  },
  { include_total_count: true, state: 'active', created: '2026-11-01..', sort: '-name' },
]

const axonList = (view: AxonView) => ({
  source: {
    noun: 'axon',
    nouns: 'axons',
    filters: { search: 'id or name contains …', state: 'is …', created: 'created … UTC' },
  } as const,
  view,
})

describe('code for a list', () => {
  let service: TestService
  let env: NodeJS.ProcessEnv
  beforeAll(async () => {
    service = await startService({ isolation: 'none' })
    env = { ...process.env, DEVDECK_API_KEY: service.key }
    await service.client.axons.create({ body: { name: 'plain' } })
    await service.client.axons.create({ body: { name: 'it\'s "$HOME" `id` \\' } })
    await service.client.axons.create({ body: { name: 'tagged', metadata: { "k'ey": '$(id)', list: 'a,b' } } })
  })
  afterAll(() => service.close())
  const expected = async ({ state: _, created: __, sort: ___, columns: ____, ...query }: AxonView) =>
    (await service.client.axons.list({ query })).axons.map(({ id }) => id)

  it.each(views)('curl returns the same rows: %j', async (view) => {
    const { stdout } = await run(
      'bash',
      ['-c', `curl() { command curl -sS --max-time 10 "$@"; }; ${asCurl(axonList(view), service.url)}`],
      { env },
    )
    const { axons } = JSON.parse(stdout) as { axons: { id: string }[] }
    expect(axons.map(({ id }) => id)).toEqual(await expected(view))
    expect(axons.length).toBeGreaterThan(0)
  })

  it.each(views)('the public client returns the same rows: %j', async (view) => {
    const code = asTypeScript(axonList(view), service.url)
    const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '--eval', code], {
      env,
    })
    const ids = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0])
    expect(ids).toEqual(await expected(view))
  })

  it('names unsupported filters in a one-line comment', () => {
    const view: AxonView = { include_total_count: true, state: 'deleted', sort: 'metadata.a%0Aecho%20x' }
    expect(asCurl(axonList(view), 'http://x').split('\n')[0]).toMatch(/^# .*is deleted; sorted by/)
    expect(asCurl(axonList(view), 'http://x').split('\n')[1]).toMatch(/^curl/)
  })

  it.each([
    ['devbox', 'devboxes', DevboxListView, 'status=running&metadata[env]=prod&columns=name,id'],
    ['snapshot', 'snapshots', SnapshotListView, 'search=setup&metadata[env]=prod'],
    ['job', 'jobs', JobListView, 'name=nightly&agent=solver'],
    ['run', 'runs', BenchmarkRunListQuery, 'state=running&search=a'],
    ['scenario', 'scenarios', ScenarioListQuery, 'search=a&metadata[env]=prod'],
  ] as const)('curl and the public client list the %s', async (noun, nouns, schema, search) => {
    const parsed = parseQuery(schema, search)
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
    const list = { source: { noun, nouns, filters: { agent: 'an agent contains …' } as const }, view: parsed.value }
    const text = asCurl(list, service.url)
    const { stdout } = await run('bash', ['-c', `curl() { command curl -fsS --max-time 10 "$@"; }; ${text}`], { env })
    expect(Object.values(JSON.parse(stdout))).toContainEqual([])
    expect(text).not.toContain('columns')
    const code = asTypeScript(list, service.url)
    await run(process.execPath, ['--input-type=module-typescript', '--eval', code], { env })
  })

  it('names filters that only the page applies to devboxes', () => {
    const source = {
      noun: 'devbox',
      nouns: 'devboxes',
      filters: { status: 'state is …', search: 'id or name contains …' },
    } as const
    const view: DevboxListView = { limit: 20, include_total_count: true, status: 'running,suspended', search: 'a' }
    const [first, second] = asCurl({ source, view }, 'http://x').split('\n')
    expect(first).toMatch(/^# .*: state is running,suspended; without the devboxes of benchmark trials$/)
    expect(second).toBe("curl --globoff 'http://x/v1/devboxes?search=a' \\")
  })
})
