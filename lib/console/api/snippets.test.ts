import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import type { AxonView } from '../address/axon-view.ts'
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

describe('a list as a call', () => {
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

  it.each(views)('curl in a shell brings the same: %j', async (view) => {
    const { stdout } = await run(
      'bash',
      ['-c', `curl() { command curl -sS --max-time 10 "$@"; }; ${asCurl(view, service.url)}`],
      { env },
    )
    const { axons } = JSON.parse(stdout) as { axons: { id: string }[] }
    expect(axons.map(({ id }) => id)).toEqual(await expected(view))
    expect(axons.length).toBeGreaterThan(0)
  })

  it.each(views)('the public client brings the same: %j', async (view) => {
    const code = asTypeScript(view, service.url)
    const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '--eval', code], {
      env,
    })
    const ids = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0])
    expect(ids).toEqual(await expected(view))
  })

  it('says what the API cannot filter, on one line', () => {
    const view: AxonView = { include_total_count: true, state: 'deleted', sort: 'metadata.a%0Aecho%20x' }
    expect(asCurl(view, 'http://x').split('\n')[0]).toMatch(/^# .*only deleted ones.*sorted by/)
    expect(asCurl(view, 'http://x').split('\n')[1]).toMatch(/^curl/)
  })
})
