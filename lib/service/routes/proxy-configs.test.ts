import { afterAll, describe, expect, it } from 'vitest'
import { startService, statusOf } from '#lib/service/testing/service.ts'

const service = await startService({ isolation: 'none' })
afterAll(() => service.close())

const endpoint = 'https://api.example.com'
let last = 0
const kinds = [
  { kind: 'gateway-configs', key: 'gateway_configs', more: {}, view: { account_id: 'test' }, prefix: 'gwc_' },
  { kind: 'mcp-configs', key: 'mcp_configs', more: { allowed_tools: ['github.*'] }, view: {}, prefix: 'mcp_' },
]

describe.each(kinds)('$kind', ({ kind, key, more, view, prefix }) => {
  const call = async (path: string, body?: object, authorization = `Bearer ${service.key}`) => {
    const init = body && { method: 'POST', body: JSON.stringify(body) }
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await service.fetch(`/v1/${kind}${path}`, { ...init, headers })
    return { status: response.status, body: await response.json() }
  }
  const valid = () => ({ name: `config ${++last}`, endpoint, auth_mechanism: { type: 'bearer' }, ...more })
  const create = async (body: object = {}) => (await call('', { ...valid(), ...body })).body

  it('are created and read', async () => {
    const { status, body } = await call('', { ...valid(), name: 'first' })
    expect(status).toBe(200)
    expect(body).toEqual({
      ...{ id: expect.stringMatching(`^${prefix}`), name: 'first', description: null, endpoint },
      ...{ create_time_ms: expect.any(Number), auth_mechanism: { type: 'bearer' }, custom_headers: null },
      ...more,
      ...view,
    })
    expect((await call(`/${body.id}`)).body).toEqual(body)
    expect(await call(`/${body.id}`, undefined, `Bearer ${service.otherKey}`)).toMatchObject({ status: 404 })
  })

  it('return the IDs of secrets in headers, never their values', async () => {
    const name = `${kind.replace('-', '_')}_KEY`
    const secret = await service.client.secrets.create({ body: { name, value: 'sesame' } })
    const literal = { name: 'x-team', value: 'a' }
    const { custom_headers } = await create({ custom_headers: [{ name: 'x-key', secret: name }, literal] })
    expect(custom_headers).toEqual([{ name: 'x-key', secret: secret.id }, literal])
    expect((await create({ custom_headers })).custom_headers).toEqual(custom_headers)
    const missing = await call('', { ...valid(), custom_headers: [{ name: 'x-key', secret: 'MISSING' }] })
    expect(missing).toMatchObject({ status: 400, body: { field: 'custom_headers.0.secret' } })
  })

  it.each([
    ['name', { name: '' }],
    ['endpoint', { endpoint: 'api.example.com' }],
    ['endpoint', { endpoint: 'file:///etc/passwd' }],
    ['auth_mechanism.type', { auth_mechanism: { type: 'digest' } }],
    ['auth_mechanism.key', { auth_mechanism: { type: 'header' } }],
    ['auth_mechanism.key', { auth_mechanism: { type: 'bearer', key: 'x-api-key' } }],
    ['auth_mechanism.key', { auth_mechanism: { type: 'header', key: 'a b' } }],
    ['custom_headers.0', { custom_headers: [{ name: 'x-key' }] }],
    ['custom_headers.0', { custom_headers: [{ name: 'x-key', value: 'a', secret: 'B' }] }],
    ['custom_headers.0.value', { custom_headers: [{ name: 'x-key', value: 'a\r\nHost: b' }] }],
    ['custom_headers', { custom_headers: Array(9).fill({ name: 'x', value: 'a' }) }],
  ])('reject %s of %j', async (field, body) => {
    expect(await call('', { ...valid(), ...body })).toMatchObject({ status: 400, body: { field } })
  })

  it('update given fields and keep the rest', async () => {
    const config = await create({ description: 'old', custom_headers: [{ name: 'x', value: 'a' }] })
    const changes = { name: null, description: '', auth_mechanism: { type: 'header', key: 'x-api-key' } }
    const { body } = await call(`/${config.id}`, changes)
    expect(body).toEqual({ ...config, description: null, auth_mechanism: changes.auth_mechanism })
    expect((await call(`/${config.id}`, { custom_headers: [] })).body.custom_headers).toEqual([])
  })

  it('have unique names per account', async () => {
    const [one, two] = [await create(), await create()]
    expect(await call('', { ...valid(), name: one.name })).toMatchObject({ status: 409, body: { field: 'name' } })
    expect(await call(`/${two.id}`, { name: one.name })).toMatchObject({ status: 409 })
    expect(await call(`/${one.id}`, { name: one.name })).toMatchObject({ status: 200 })
  })

  it('are listed in pages, newest first, and deleted', async () => {
    const made = []
    for (const name of ['list one', 'list two', 'list three']) made.unshift((await create({ name })).id)
    const ids = async (query: string) =>
      ((await call(`?${query}`)).body[key] as { id: string }[]).map((config) => config.id)
    expect(await ids('name=list%20')).toEqual(made)
    expect(await ids(`search=${made[1]}`)).toEqual([made[1]])
    expect(await ids(`name=list&limit=1&starting_after=${made[0]}`)).toEqual([made[1]])
    expect(await call(`/${made[0]}/delete`, {})).toMatchObject({ status: 200, body: { id: made[0] } })
    expect(await call(`/${made[0]}`)).toMatchObject({ status: 404 })
    expect(await ids('name=list%20')).toEqual(made.slice(1))
  })
})

it('MCP configs use a bearer token by default', async () => {
  const body = { name: 'default', endpoint, allowed_tools: ['*'] }
  expect(await service.client.mcpConfigs.create({ body })).toMatchObject({ auth_mechanism: { type: 'bearer' } })
})

it.each(['gateways', 'mcp'])('a devbox with %s gets 501 and an alternative', async (field) => {
  const made = service.client.devboxes.create({ body: { [field]: { KEY: { gateway: 'gwc_1', secret: 'A' } } } })
  await expect(made).rejects.toMatchObject({ status: 501, field, message: expect.stringContaining('with secrets') })
  expect(await statusOf(service.client.devboxes.create({ body: { [field]: {} } }))).toBeUndefined()
})
