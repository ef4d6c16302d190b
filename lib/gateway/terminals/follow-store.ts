import type { DatabaseSync } from 'node:sqlite'
import { sealData, unsealData } from 'iron-session'
import { hasRole } from '#lib/protocol/roles.ts'
import { revokedSessions } from '../accounts/revoked-sessions.ts'
import { openingSecrets, sealingSecret } from '../accounts/sealing.ts'
import { type Session, sessionExpiryMs } from '../accounts/types.ts'
import { openConsoleDatabase } from '../data-folder.ts'
import { roleOf } from '../people/roles.ts'
import { registry, slot } from '../registry/registry.ts'
import { serviceIdentity } from '../upstream/client.ts'

/** Target of a link. */
export interface FollowTarget {
  account_id: string
  devbox_id: string
  name: string
}

export interface StoredFollowLink extends FollowTarget {
  /** Needed again to show the link to the terminal's pages. */
  token: string
  /** Belongs to the link's creator, on whose behalf the terminal is opened. */
  session: Session
  expires_ms: number
}

type Sealed = Pick<StoredFollowLink, 'token' | 'session'>

/** Stores follow links, so that they survive a restart of the console. */
class FollowStore {
  readonly #database: DatabaseSync

  constructor(dataDir: string) {
    this.#database = openConsoleDatabase(
      dataDir,
      'follow',
      `CREATE TABLE IF NOT EXISTS follow_links (
        digest TEXT PRIMARY KEY, account_id TEXT NOT NULL, devbox_id TEXT NOT NULL, name TEXT NOT NULL,
        sealed TEXT NOT NULL, expires_ms INTEGER NOT NULL) WITHOUT ROWID`,
    )
  }

  close(): void {
    this.#database.close()
  }

  async add(digest: string, { account_id, devbox_id, name, token, session, expires_ms }: StoredFollowLink) {
    const content: Sealed = { token, session }
    const sealed = await sealData(content, { password: sealingSecret(), ttl: 0 })
    this.#database.prepare('DELETE FROM follow_links WHERE expires_ms <= ?').run(Date.now())
    this.#database
      .prepare('INSERT OR REPLACE INTO follow_links VALUES (?, ?, ?, ?, ?, ?)')
      .run(digest, account_id, devbox_id, name, sealed, expires_ms)
  }

  remove(digest: string): void {
    this.#database.prepare('DELETE FROM follow_links WHERE digest = ?').run(digest)
  }

  /** Undefined for unknown and expired links, and once the session that made the link has ended. */
  find(digest: string): Promise<StoredFollowLink | undefined> {
    return this.#open(this.#database.prepare('SELECT * FROM follow_links WHERE digest = ?').get(digest))
  }

  of({ account_id, devbox_id, name }: FollowTarget): Promise<StoredFollowLink | undefined> {
    return this.#open(
      this.#database
        .prepare('SELECT * FROM follow_links WHERE account_id = ? AND devbox_id = ? AND name = ?')
        .get(account_id, devbox_id, name),
    )
  }

  async #open(row: Record<string, unknown> | undefined): Promise<StoredFollowLink | undefined> {
    const now = Date.now()
    if (!row || Number(row.expires_ms) <= now) return undefined
    const { token, session } = await unsealData<Partial<Sealed>>(String(row.sealed), {
      password: openingSecrets(),
      ttl: 0,
    })
    if (!token || !session || session.service !== serviceIdentity()) return undefined
    if (sessionExpiryMs(session) <= now || revokedSessions().find(session.sid)) return undefined
    // A viewer could not open the terminal for the link's visitors.
    if (!hasRole(roleOf(session) ?? 'viewer', 'member')) return undefined
    return {
      account_id: String(row.account_id),
      devbox_id: String(row.devbox_id),
      name: String(row.name),
      token,
      session,
      expires_ms: Number(row.expires_ms),
    }
  }
}

export const followStore = slot(
  'followStore',
  () => new FollowStore(registry().config.dataDir),
  (store) => store.close(),
)
