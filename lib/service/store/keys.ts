import { createHash, randomBytes } from 'node:crypto'
import { newId } from '#lib/service/kit/ids.ts'
import type { Database } from './database.ts'

export interface StoredKey {
  id: string
  account: string
  name: string | null
  create_time_ms: number
  revoke_time_ms: number | null
}

export const newApiKey = () => `ak_${randomBytes(24).toString('base64url')}`

export const digestOf = (key: string) => createHash('sha256').update(key).digest()

/** API keys created by `keys add`. Not cached: another process may change them at any time. */
export const createKeyStore = (database: Database) => {
  const insert = database.prepare(
    'INSERT INTO api_keys (id, account, name, digest, create_time_ms) VALUES (?, ?, ?, ?, ?)',
  )
  const all = database.prepare(
    'SELECT id, account, name, create_time_ms, revoke_time_ms FROM api_keys ORDER BY create_time_ms, id',
  )
  const valid = database.prepare('SELECT id, account FROM api_keys WHERE digest = ? AND revoke_time_ms IS NULL')
  const isValid = database.prepare('SELECT 1 FROM api_keys WHERE id = ? AND revoke_time_ms IS NULL')
  const revoke = database.prepare('UPDATE api_keys SET revoke_time_ms = ? WHERE id = ? AND revoke_time_ms IS NULL')
  const dataVersion = database.prepare('PRAGMA data_version')
  return {
    add: (account: string, name: string | null, nowMs: number): { id: string; key: string } => {
      const [id, key] = [newId('key'), newApiKey()]
      insert.run(id, account, name, digestOf(key), nowMs)
      return { id, key }
    },
    all: () => all.all() as unknown as StoredKey[],
    find: (digest: Uint8Array) => valid.get(digest) as { id: string; account: string } | undefined,
    isValid: (id: string): boolean => isValid.get(id) !== undefined,
    revoke: (id: string, nowMs: number): boolean => revoke.run(nowMs, id).changes > 0,
    dataVersion: () => dataVersion.get()?.data_version,
  }
}

export type KeyStore = ReturnType<typeof createKeyStore>
