import type { StringMap } from '#lib/contract/common.ts'
import { Secret, type SecretUsage } from '#lib/contract/secrets.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { createSealer } from '#lib/service/kit/seal.ts'
import { type Database, returning } from './database.ts'
import { secretUsageQuery } from './secret-usage.ts'
import { fieldsOf } from './table.ts'

interface SecretRow extends Secret {
  account: string
  sealed_value: Uint8Array
}

export type SecretStore = ReturnType<typeof createSecretStore>

/** Values are stored encrypted with the key in `keyFile` and bound to their account and name. */
export const createSecretStore = (database: Database, keyFile: string) => {
  const columns = Object.keys(Secret.shape)
  const any = database.prepare('SELECT * FROM secrets ORDER BY seq DESC LIMIT 1')
  const byName = database.prepare('SELECT * FROM secrets WHERE account = ? AND name = ?')
  const byNameOrId = database.prepare('SELECT id FROM secrets WHERE account = ? AND (name = ? OR id = ?)')
  const insert = database.prepare(`
    INSERT INTO secrets (id, account, name, sealed_value, create_time_ms, update_time_ms) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (account, name) DO NOTHING RETURNING ${columns}`)
  const setValue = database.prepare(
    `UPDATE secrets SET sealed_value = ?, update_time_ms = ? WHERE account = ? AND name = ? RETURNING ${columns}`,
  )
  const remove = database.prepare(`DELETE FROM secrets WHERE account = ? AND name = ? RETURNING ${columns}`)
  const list = database.prepare(`SELECT ${columns} FROM secrets WHERE account = ? ORDER BY seq DESC LIMIT ?`)
  const count = database.prepare('SELECT count(*) AS total FROM secrets WHERE account = ?')

  const usage = secretUsageQuery(database)

  const sealer = createSealer(keyFile, () => any.get() === undefined)
  const row = (account: string, name: string) => byName.get(account, name) as SecretRow | undefined
  const open = ({ account, name, sealed_value }: SecretRow) => sealer.open(sealed_value, [account, name])

  return {
    list: (account: string, limit: number) => {
      const total = Number(count.get(account)?.total)
      const secrets = list.all(account, limit) as unknown as Secret[]
      return { secrets, total_count: total, has_more: total > secrets.length }
    },

    get: (account: string, name: string): Secret | undefined => {
      const found = row(account, name)
      return found && fieldsOf(Secret)(found)
    },

    usage: (account: string, name: string): SecretUsage | undefined => {
      const found = row(account, name)
      return found && usage(account, found)
    },

    idOf: (account: string, nameOrId: string) => byNameOrId.get(account, nameOrId, nameOrId)?.id as string | undefined,

    create: (account: string, name: string, value: string, now: number): Secret | undefined =>
      returning<Secret>(database, insert, newId('sec'), account, name, sealer.seal(value, [account, name]), now, now),

    update: (account: string, name: string, value: string, now: number): Secret | undefined =>
      returning<Secret>(database, setValue, sealer.seal(value, [account, name]), now, account, name),

    delete: (account: string, name: string): Secret | undefined => returning<Secret>(database, remove, account, name),

    missing: (account: string, names: readonly string[]): string[] =>
      names.filter((name) => row(account, name) === undefined),

    /** Maps environment variables to values instead of secret names; omits deleted secrets. Throws a SealError. */
    reveal: (account: string, secrets: StringMap): StringMap =>
      Object.fromEntries(
        Object.entries(secrets).flatMap(([variable, name]) => {
          const found = row(account, name)
          return found ? [[variable, open(found)]] : []
        }),
      ),

    problem: (): string | undefined => {
      const newest = any.get() as SecretRow | undefined
      try {
        if (newest) open(newest)
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    },
  }
}
