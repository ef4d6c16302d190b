import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { PersonalKey } from '#lib/protocol/personal-keys.ts'
import { startService } from '#lib/service/testing/service.ts'
import { setCurrentStore } from '../store/current-store.ts'
import { SharedStore } from '../store/shared-store.ts'
import { hasPostgres, startPostgres, type TestPostgres } from '../store/testing-postgres.ts'
import { startConsole } from '../testing.ts'
import { KeyStore } from './key-store.ts'

describe.skipIf(!hasPostgres)('personal keys of several consoles (needs PostgreSQL)', () => {
  let postgres: TestPostgres
  const stores: SharedStore[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(async () => {
    for (const store of stores) await store.close()
    await postgres.remove()
  })

  const openConsole = async (name: string) => {
    const store = new SharedStore(postgres.url, `http://${name}`)
    stores.push(store)
    await store.open()
    setCurrentStore(store)
    const keys = new KeyStore('/nowhere')
    setCurrentStore(undefined)
    store.join({ onLead: () => undefined, onStepDown: () => undefined })
    return { store, keys }
  }

  it('are revoked on all of them, even while another one stores a use or new groups', async () => {
    const [a, b] = [await openConsole('a'), await openConsole('b')]
    const key = { account: 'acc', owner: 'ann', person: 'ann', name: 'ci', role: 'member' as const, sealed: 'sealed' }
    for (const id of ['key_1', 'key_2'])
      a.keys.add(`digest of ${id}`, { ...key, id, created_ms: 1, expires_ms: null }, ['research'])
    await vi.waitFor(() => expect(b.keys.list('acc')).toHaveLength(2))
    const known = b.keys.find('digest of key_1')
    expect(known).toMatchObject({ id: 'key_1', groups: ['research'], last_used_ms: null })
    if (known) b.keys.use(known, 90_000)
    b.keys.setGroups('ann', ['platform'])
    a.keys.remove('key_1')
    await Promise.all([a.store.stored(), b.store.stored()])
    for (const { keys } of [a, b])
      await vi.waitFor(() =>
        expect(keys.list('acc')).toMatchObject([{ id: 'key_2', groups: ['platform'], last_used_ms: null }]),
      )
    const after = await openConsole('c')
    expect(after.keys.list('acc').map(({ id }) => id)).toEqual(['key_2'])
  })

  it("are not created when they can't be stored, because nobody would have the key", async () => {
    const a = await openConsole('failing')
    const service = await startService({ isolation: 'none' })
    setCurrentStore(a.store)
    const gateway = await startConsole({ url: service.url })
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    try {
      const cookie = await gateway.signIn(service.key)
      const names = async () =>
        (await gateway.ask(cookie, 'GET', '/api/personal-keys')).body.keys.map(({ name }: PersonalKey) => name)
      const create = (name: string) => gateway.ask(cookie, 'POST', '/api/personal-keys', { name })
      await client.query('ALTER TABLE devdeck_rows RENAME TO unavailable')
      expect(await create('lost')).toMatchObject({
        status: 503,
        body: { message: expect.stringContaining('nothing was changed') },
      })
      expect(await names()).toEqual([])
      await expect(a.store.stored()).rejects.toThrow('devdeck_rows')
      await client.query('ALTER TABLE unavailable RENAME TO devdeck_rows')
      await vi.waitFor(async () => expect((await create('kept')).status).toBe(200), 60_000)
      expect(await names()).toEqual(['kept'])
      const [{ id } = { id: '' }] = (await gateway.ask(cookie, 'GET', '/api/personal-keys')).body.keys
      const stored = `SELECT key FROM devdeck_rows WHERE tbl = 'personal_keys' AND "row" IS NOT NULL AND key LIKE $1`
      expect((await client.query(stored, [`%${id}%`])).rows).toHaveLength(1)
    } finally {
      await client.end()
      await gateway.close()
      setCurrentStore(undefined)
      await service.close()
    }
  })
})
