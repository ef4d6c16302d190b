import { afterAll, beforeAll, expect, it } from 'vitest'
import { Replays } from '#lib/service/kit/replays.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const post = async (path: string, body: object, requestId: string | undefined, key = service.key) => {
  const response = await service.fetch(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      ...(requestId && { 'x-request-id': requestId }),
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, id: response.headers.get('x-request-id'), body: await response.text() }
}

const newAxon = async (name: string) => (await service.client.axons.create({ body: { name } })).id

it('replays the first response for events, SQL and updates', async () => {
  const axon = await newAxon('repeated')
  const event = { event_type: 'note', origin: 'AGENT_EVENT', source: 'test', payload: 'x' }
  const publish = (requestId: string | undefined, payload = 'x') =>
    post(`/v1/axons/${axon}/publish`, { ...event, payload }, requestId)
  const storm = await Promise.all(Array.from({ length: 8 }, () => publish('r-1')))
  expect(new Set(storm.map(({ status, id, body }) => `${status} ${id} ${body}`)).size).toBe(1)
  const others = await Promise.all([publish('r-2'), publish('r-1', 'y'), publish(undefined), publish(undefined)])
  expect(new Set([storm[0]?.body, ...others.map(({ body }) => body)]).size).toBe(5)
  const { events } = await service.client.axons.events({ params: { id: axon }, query: {} })
  expect(events).toHaveLength(5)
  const sql = (statement: string, requestId: string) =>
    post(`/v1/axons/${axon}/sql/query`, { sql: statement }, requestId)
  await sql('CREATE TABLE t (a)', 's-0')
  const [first, again] = [await sql('INSERT INTO t VALUES (1)', 's-1'), await sql('INSERT INTO t VALUES (1)', 's-1')]
  expect(again).toEqual(first)
  expect((await sql('SELECT count(*) FROM t', 's-2')).body).toContain('[[1]]')
})

it("doesn't replay for other accounts or endpoints, or after a failure", async () => {
  const [one, two] = [await newAxon('one'), await newAxon('two')]
  const event = { event_type: 'note', origin: 'AGENT_EVENT', source: 'test', payload: 'x' }
  const first = await post(`/v1/axons/${one}/publish`, event, 'same')
  expect((await post(`/v1/axons/${one}/publish`, event, 'same', service.otherKey)).status).toBe(404)
  expect((await post(`/v1/axons/${two}/publish`, event, 'same')).body).not.toBe(first.body)
  const secret = { value: 'v' }
  expect((await post('/v1/secrets/LATE', secret, 'late')).status).toBe(404)
  await post('/v1/secrets', { name: 'LATE', value: 'w' }, 'made')
  expect((await post('/v1/secrets', { name: 'LATE', value: 'w' }, 'made')).status).toBe(200)
  expect((await post('/v1/secrets/LATE', secret, 'late')).status).toBe(200)
})

it.each(['execute_sync', 'execute?last_n=5'])(
  'returns the result of the command to a retry of %s after the first client disconnected',
  async (operation) => {
    const { id } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    const execute = (command: string) => service.client.executions.executeSync({ params: { id }, body: { command } })
    const slow = { command: 'touch started; until [ -e go ]; do sleep 0.05; done; echo done; exit 3' }
    const call = (signal: AbortSignal | null = null) =>
      service.fetch(`/v1/devboxes/${id}/${operation}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-request-id': `slow-${id}` },
        body: JSON.stringify(slow),
        signal,
      })
    // Two clients disconnect while waiting for the same command.
    const disconnecting = [new AbortController(), new AbortController()]
    const disconnected = Promise.allSettled(disconnecting.map(({ signal }) => call(signal)))
    await execute('until [ -e started ]; do sleep 0.05; done')
    for (const each of disconnecting) each.abort()
    await disconnected
    const retry = call()
    await execute('touch go')
    expect(await (await retry).json()).toMatchObject({ stdout: 'done\n', exit_status: 3 })
    expect(await (await call()).json()).toMatchObject({ stdout: 'done\n', exit_status: 3 })
  },
)

it('drops the oldest results over the size limit', async () => {
  const replays = new Replays<string>(() => 20 * 1024 * 1024)
  for (const key of ['0', '1', '2', '3']) await replays.once(key, async () => 'first')
  const again = (key: string) => replays.once(key, async () => 'second')
  expect([await again('3'), await again('2'), await again('0')]).toEqual(['first', 'first', 'second'])
})
