import type { DatabaseSync } from 'node:sqlite'
import type { PersonalKey } from '#lib/protocol/personal-keys.ts'
import { openConsoleDatabase } from '../data-folder.ts'
import { logError } from '../observability/log.ts'
import { registry, slot } from '../registry/registry.ts'

export interface StoredKey extends Omit<PersonalKey, 'current_role' | 'is_own'> {
  account: string
  /** Name from single sign-on. Keys without one belong to everyone who signs in with an API key. */
  owner: string | null
  /** From the owner's last sign-in. */
  groups: string[]
  /** Account and API key of the service, sealed with the session secret. */
  sealed: string
}

/** Unspecified: precision of the last use. */
const writeEveryMs = 60_000
/** Unspecified: how long expired keys stay in the list. */
const keptExpiredMs = 30 * 24 * 3600 * 1000

// Personal keys. A row of a key is written once and then only deleted: a console that stores its last use must not bring
// back a key that another console has just revoked, so last uses and groups have separate tables.
export class KeyStore {
  readonly #database: DatabaseSync

  constructor(dataDir: string) {
    this.#database = openConsoleDatabase(
      dataDir,
      'personal_keys',
      // A revocation must survive a power cut.
      `PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS personal_keys (
        id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, account TEXT NOT NULL, owner TEXT, person TEXT, name TEXT NOT NULL,
        role TEXT NOT NULL, sealed TEXT NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS personal_key_uses (id TEXT PRIMARY KEY, last_used_ms INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS person_groups (owner TEXT PRIMARY KEY, groups TEXT NOT NULL) WITHOUT ROWID;`,
    )
  }

  close(): void {
    this.#database.close()
  }

  add(digest: string, key: Omit<StoredKey, 'groups' | 'last_used_ms'>, groups: readonly string[] | undefined): void {
    const { id, account, owner, person, name, role, sealed, created_ms, expires_ms } = key
    this.#database
      .prepare('INSERT INTO personal_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run(id, digest, account, owner, person, name, role, sealed, created_ms, expires_ms)
    // Sign-ins with an older version stored none.
    if (owner !== null)
      this.#database
        .prepare('INSERT OR IGNORE INTO person_groups VALUES (?, ?)')
        .run(owner, JSON.stringify(groups ?? []))
  }

  list(account: string): StoredKey[] {
    return this.#select('account = ? ORDER BY created_ms DESC, id', account)
  }

  get(id: string): StoredKey | undefined {
    return this.#select('id = ?', id)[0]
  }

  find(digest: string): StoredKey | undefined {
    return this.#select('digest = ?', digest)[0]
  }

  remove(id: string): void {
    this.#database.prepare('DELETE FROM personal_keys WHERE id = ?').run(id)
    this.#database.prepare('DELETE FROM personal_key_uses WHERE id = ?').run(id)
  }

  prune(nowMs: number): void {
    this.#database.prepare('DELETE FROM personal_keys WHERE expires_ms < ?').run(nowMs - keptExpiredMs)
    this.#database.exec('DELETE FROM personal_key_uses WHERE id NOT IN (SELECT id FROM personal_keys)')
  }

  use({ id, last_used_ms }: StoredKey, nowMs: number): void {
    if (last_used_ms !== null && nowMs - last_used_ms < writeEveryMs) return
    this.#database.prepare('INSERT OR REPLACE INTO personal_key_uses VALUES (?, ?)').run(id, nowMs)
  }

  setGroups(owner: string, groups: readonly string[]): void {
    this.#database.prepare('INSERT OR REPLACE INTO person_groups VALUES (?, ?)').run(owner, JSON.stringify(groups))
  }

  #select(where: string, value: string): StoredKey[] {
    return this.#database
      .prepare(
        `SELECT personal_keys.*, last_used_ms, groups FROM personal_keys
         LEFT JOIN personal_key_uses USING (id) LEFT JOIN person_groups USING (owner) WHERE ${where}`,
      )
      .all(value)
      .map(({ groups, digest: _, ...row }) => ({
        ...(row as unknown as StoredKey),
        groups: JSON.parse(String(groups ?? '[]')) as string[],
      }))
  }
}

export const keyStore = slot(
  'keyStore',
  () => new KeyStore(registry().config.dataDir),
  (store) => store.close(),
)

export const hasExpired = ({ expires_ms }: Pick<StoredKey, 'expires_ms'>): boolean =>
  expires_ms !== null && expires_ms <= Date.now()

/** The role of a person's keys follows the groups of the last sign-in. */
export const rememberGroups = (person: string, groups: readonly string[]): void => {
  try {
    keyStore().setGroups(person, groups)
  } catch (error) {
    logError(
      `The groups of ${JSON.stringify(person)} could not be stored; their personal keys keep the previous groups`,
      error,
    )
  }
}
