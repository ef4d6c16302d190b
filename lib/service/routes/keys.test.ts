import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '#lib/client/client.ts'
import { fillPath } from '#lib/contract/endpoint.ts'
import { endpoints } from '#lib/contract/index.ts'
import type { KeyScope } from '#lib/contract/keys.ts'
import { databaseName } from '#lib/service/store/data-dir.ts'
import { openDatabase } from '#lib/service/store/database.ts'
import { createKeyStore } from '#lib/service/store/keys.ts'
import { startService, statusOf, type TestService } from '#lib/service/testing/service.ts'
import { attach, openTerminal } from '#lib/service/testing/terminals.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const clientOf = (key: string) => createClient({ baseUrl: service.url, headers: bearer(key) })
const readAccount = (client: Client) => statusOf(client.accounts.me())
const revoke = (id: string) => {
  const database = openDatabase(join(service.dataDir, databaseName))
  createKeyStore(database).revoke(id, Date.now())
  database.close()
}
const restricted = (...scopes: KeyScope[]) => service.client.keys.createRestricted({ body: { scopes } })

describe('POST /v1/apikeys', () => {
  it('creates a key of the same account', async () => {
    const { key_secret, ...key } = await service.client.keys.create({ body: { name: 'CI' } })
    expect(key).toEqual({ id: expect.stringMatching(/^key_/), name: 'CI', expires_at_ms: null })
    expect(key_secret).toMatch(/^ak_/)
    expect((await clientOf(key_secret).accounts.me()).id).toBe('test')
  })

  it('creates a key that expires, which also ends its streams', async () => {
    const expires_at_ms = Date.now() + 1000
    const { key_secret } = await service.client.keys.create({ body: { expires_at_ms } })
    const stream = await service.fetch('/v1/devboxes/evictions/watch', { headers: bearer(key_secret) })
    expect(stream.status).toBe(200)
    expect(await stream.text()).toContain('The key has expired')
    expect(await readAccount(clientOf(key_secret))).toBe(401)
    await expect(service.client.keys.create({ body: { expires_at_ms } })).rejects.toMatchObject({
      status: 400,
      field: 'expires_at_ms',
    })
  })

  it('limits a key to the life of the key that created it', async () => {
    const expires_at_ms = Date.now() + 3_600_000
    const parent = await service.client.keys.create({ body: { expires_at_ms } })
    const child = await clientOf(parent.key_secret).keys.create({ body: {} })
    expect(child.expires_at_ms).toBe(expires_at_ms)
    const grandchild = await clientOf(child.key_secret).keys.create({ body: { expires_at_ms: expires_at_ms - 1 } })
    expect(grandchild.expires_at_ms).toBe(expires_at_ms - 1)
    revoke(parent.id)
    for (const { key_secret } of [parent, child, grandchild]) expect(await readAccount(clientOf(key_secret))).toBe(401)
  })
})

describe('a key that is revoked', () => {
  it('ends a request whose body arrives later', async () => {
    const { id, key_secret } = await service.client.keys.create({ body: {} })
    const bytes = new TransformStream<Uint8Array, Uint8Array>()
    const writer = bytes.writable.getWriter()
    const headers = { ...bearer(key_secret), 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: bytes.readable, duplex: 'half' } as const
    const created = service.fetch('/v1/apikeys', init)
    await writer.write(Buffer.from('{'))
    const stream = await service.fetch('/v1/devboxes/evictions/watch', { headers })
    revoke(id)
    expect(await stream.text()).toContain('The key was revoked')
    await writer.write(Buffer.from('}'))
    await writer.close()
    expect((await created).status).toBe(401)
  })

  it('ends a terminal that is being opened', async () => {
    const session_name = await service.devbox()
    const first = await openTerminal(service, session_name)
    // Delays the second until it counts as lost.
    first.socket.pause()
    const { id, key_secret } = await service.client.keys.create({ body: {} })
    const { connect_url } = await clientOf(key_secret).terminals.connect({ params: { session_name } })
    const second = attach(service, connect_url ?? '')
    revoke(id)
    expect(await Promise.race([second.refused, second.closed.then(({ code }) => code)])).toBe(401)
    first.socket.terminate()
  })
})

describe('POST /v1/restricted_keys', () => {
  it('creates a key that can call nothing without scopes', async () => {
    const { key_secret, scopes } = await restricted()
    expect([key_secret.slice(0, 3), scopes]).toEqual(['rk_', []])
    const called = endpoints.filter(({ isPublic }) => !isPublic)
    const statuses = await Promise.all(
      called.map(async ({ id, method, path }) => {
        const url = fillPath(path, new Proxy({}, { get: () => 'some_id' }))
        return [id, (await service.fetch(url, { method, headers: bearer(key_secret) })).status]
      }),
    )
    expect(statuses).toEqual(called.map(({ id }) => [id, 403]))
  })

  it('limits a key to its resources and access levels', async () => {
    const id = await service.devbox()
    const params = { id }
    const [read, write] = await Promise.all(
      (['ACCESS_LEVEL_READ', 'ACCESS_LEVEL_WRITE'] as const).map(async (access_level) => {
        const { key_secret } = await restricted({ resource_type: 'RESOURCE_TYPE_DEVBOXES', access_level })
        return clientOf(key_secret)
      }),
    )
    if (!read || !write) throw new Error('No keys')
    const calls = (client: Client) =>
      Promise.all([
        statusOf(client.devboxes.get({ params })),
        statusOf(client.devboxes.waitForStatus({ params, body: { statuses: ['running'] } })),
        statusOf(client.executions.executeSync({ params, body: { command: 'true' } })),
        statusOf(client.terminals.connect({ params: { session_name: id } })),
        statusOf(client.snapshots.create({ params, body: {} })),
        statusOf(client.secrets.list({})),
        statusOf(client.keys.create({ body: {} })),
        readAccount(client),
      ])
    expect(await calls(read)).toEqual([undefined, undefined, 403, 403, 403, 403, 403, 403])
    expect(await calls(write)).toEqual([undefined, undefined, undefined, undefined, 403, 403, 403, 403])
    await service.client.terminals.control({ params: { session_name: id }, body: { action: 'close' } })
  })

  it('rejects an unknown scope', async () => {
    const scopes = [{ resource_type: 'RESOURCE_TYPE_MOON', access_level: 'ACCESS_LEVEL_READ' }]
    expect((await service.post('/v1/restricted_keys', { scopes })).status).toBe(400)
  })
})
