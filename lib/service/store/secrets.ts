import type { StringMap } from '#lib/contract/common.ts'
import type { Database } from './database.ts'

export const createSecretStore = (_database: Database) => ({
  /** The names of `names` the account has no secret for. */
  missing: (_account: string, names: readonly string[]): string[] => [...names],
  /** Values by environment variable, for a map of environment variable to secret name; a secret that is gone is left out. */
  reveal: (_account: string, _secrets: StringMap): StringMap => ({}),
})

export type SecretStore = ReturnType<typeof createSecretStore>
