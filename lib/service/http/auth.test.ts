import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wrongKeysPerMinute } from '#lib/limits/wrong-key-limit.ts'
import { sendRaw, startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const status = async (path: string, headers: Record<string, string> = {}) =>
  (await sendRaw(service.url, { path, headers })).status

describe('the API key', () => {
  it.each([
    '/v1/axons',
    '/v1/accounts/me',
    '/pty/a',
    '/pty/a/attach',
    '/v1/devboxes/evictions/watch',
    '/',
    '/no/such/address',
    '/v1/axons/%zz',
    '/v1/axons?limit=-1',
  ])('is required at %s before any other check', async (path) => {
    const { status, headers, body } = await sendRaw(service.url, { path })
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toBe('Bearer')
    expect(JSON.parse(body)).toEqual({
      code: 'unauthenticated',
      message: expect.stringContaining('API key'),
      request_id: headers['x-request-id'],
    })
  })

  it('is required for an upgrade', async () => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    expect(await status('/pty/a/attach', headers)).toBe(401)
    expect(await status('/v1/axons', headers)).toBe(401)
  })

  it('is not required for the health check', async () => {
    expect(await status('/healthz')).toBe(200)
  })

  it.each([
    ['none', () => ({}), 401],
    ['no scheme', () => ({ authorization: service.key }), 401],
    ['another scheme', () => ({ authorization: `Basic ${service.key}` }), 401],
    ['a truncated key', () => ({ authorization: `Bearer ${service.key.slice(0, -1)}` }), 401],
    ['a key followed by more text', () => ({ authorization: `Bearer ${service.key} x` }), 401],
    [
      'the tunnel header, which is for terminals',
      () => ({ 'x-runloop-tunnel-authorization': `Bearer ${service.key}` }),
      401,
    ],
    ['the key', () => ({ authorization: `Bearer ${service.key}` }), 200],
    ['the key with a lowercase scheme', () => ({ authorization: `bearer ${service.key}` }), 200],
    ['the key of another account', () => ({ authorization: `Bearer ${service.otherKey}` }), 200],
  ])('given as %s returns the expected status', async (_, headers, expected) => {
    expect(await status('/v1/axons', headers() as Record<string, string>)).toBe(expected)
  })

  it.each(['access_token', 'token', 'api_key', 'ticket'])('is ignored in the query (?%s=)', async (name) => {
    expect(await status(`/v1/axons?${name}=${service.key}`)).toBe(401)
  })

  it('identifies the account', async () => {
    // All fields that the public clients require.
    expect(await service.client.accounts.me()).toMatchObject({
      id: 'test',
      name: 'test',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      account_status: 'ACCOUNT_STATUS_ENABLED',
      tier: 'UNRECOGNIZED',
      billing: { account_billing_type: 'UNRECOGNIZED' },
    })
    expect(await service.otherClient.accounts.me()).toMatchObject({ id: 'other' })
  })
})

describe('many wrong keys', () => {
  it('return 429 over the limit without affecting valid or missing keys', async () => {
    const target = await startService({ isolation: 'none' })
    const getAccount = (key: string) => target.fetch('/v1/accounts/me', { headers: { authorization: `Bearer ${key}` } })
    for (let i = 0; i < wrongKeysPerMinute; i++) expect((await getAccount(`wrong${i}`)).status).toBe(401)
    const late = await getAccount('wrong')
    expect(late.status).toBe(429)
    expect((await sendRaw(target.url, { path: '/v1/accounts/me' })).status).toBe(401)
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await getAccount(target.key)).status).toBe(200)
    await target.close()
  })
})
