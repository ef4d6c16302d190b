import { createHash, randomBytes } from 'node:crypto'
import type { KeyScope } from '#lib/contract/keys.ts'
import { newId } from '#lib/service/kit/ids.ts'
import type { Database } from './database.ts'

export interface StoredKey {
  id: string
  account: string
  name: string | null
  create_time_ms: number
  revoke_time_ms: number | null
  expires_at_ms: number | null
  isRestricted: boolean
  isFromApi: boolean
}

interface NewKey {
  account: string
  name: string | null
  nowMs: number
  expiresAtMs?: number | null
  /** Only these are allowed. */
  scopes?: readonly KeyScope[]
  /** The key of the call that creates this one, or null if it is not stored. */
  parentId?: string | null
}

export interface ValidKey {
  id: string
  account: string
  expires_at_ms: number | null
  scopes?: readonly KeyScope[]
}

export const newApiKey = () => `ak_${randomText()}`

const randomText = () => randomBytes(24).toString('base64url')

export const digestOf = (key: string) => createHash('sha256').update(key).digest()

/** API keys created by `keys add` and over the API. Not cached: another process may change them at any time. */
export const createKeyStore = (database: Database) => {
  const insert = database.prepare(
    `INSERT INTO api_keys (id, account, name, digest, create_time_ms, expires_at_ms, scopes, parent_id, is_from_api)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const all = database.prepare('SELECT * FROM api_keys ORDER BY create_time_ms, id')
  const unrevoked = 'revoke_time_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ?)'
  const valid = database.prepare(
    `SELECT id, account, expires_at_ms, scopes FROM api_keys WHERE digest = ? AND ${unrevoked}`,
  )
  const expiry = database.prepare('SELECT expires_at_ms FROM api_keys WHERE id = ?')
  const isValid = database.prepare(`SELECT 1 FROM api_keys WHERE id = ? AND ${unrevoked}`)
  const nameOf = database.prepare('SELECT name FROM api_keys WHERE id = ?')
  const revoke = database.prepare(`UPDATE api_keys SET revoke_time_ms = ? WHERE revoke_time_ms IS NULL AND id IN (
    WITH RECURSIVE revoked (id) AS (
      VALUES (?) UNION SELECT api_keys.id FROM api_keys JOIN revoked ON api_keys.parent_id = revoked.id
    ) SELECT id FROM revoked)`)
  const remove = database.prepare('DELETE FROM api_keys WHERE id = ?')
  const dataVersion = database.prepare('PRAGMA data_version')
  return {
    /** A key never outlives the one that created it. */
    add: ({ account, name, nowMs, expiresAtMs, scopes, parentId }: NewKey) => {
      const id = newId('key')
      const key = scopes ? `rk_${randomText()}` : newApiKey()
      const limits = [expiresAtMs, parentId && expiry.get(parentId)?.expires_at_ms].filter(
        (ms) => typeof ms === 'number',
      )
      const expires_at_ms = limits.length > 0 ? Math.min(...limits) : null
      const json = scopes ? JSON.stringify(scopes) : null
      const isFromApi = parentId === undefined ? 0 : 1
      insert.run(id, account, name, digestOf(key), nowMs, expires_at_ms, json, parentId ?? null, isFromApi)
      return { id, key, expires_at_ms }
    },
    all: (): StoredKey[] =>
      (all.all() as unknown as (StoredKey & { scopes: string | null; is_from_api: number })[]).map((row) => ({
        ...row,
        isRestricted: row.scopes !== null,
        isFromApi: row.is_from_api === 1,
      })),
    find: (digest: Uint8Array): ValidKey | undefined => {
      const row = valid.get(digest, Date.now()) as (Omit<ValidKey, 'scopes'> & { scopes: string | null }) | undefined
      if (!row) return undefined
      const { scopes, ...key } = row
      return scopes === null ? key : { ...key, scopes: JSON.parse(scopes) as KeyScope[] }
    },
    isValid: (id: string): boolean => isValid.get(id, Date.now()) !== undefined,
    nameOf: (id: string) => (nameOf.get(id)?.name ?? null) as string | null,
    /** Revokes the key and those created with it. */
    revoke: (id: string, nowMs: number): boolean => revoke.run(nowMs, id).changes > 0,
    /** Removes a key that was never shown. */
    remove: (id: string): void => void remove.run(id),
    dataVersion: () => dataVersion.get()?.data_version,
  }
}

export type KeyStore = ReturnType<typeof createKeyStore>
