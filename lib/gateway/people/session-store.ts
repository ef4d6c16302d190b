import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { SignedInSession, SignInMethod } from '#lib/protocol/sessions.ts'
import { personOf } from '../accounts/person.ts'
import { idleSeconds, type Session, sessionExpiryMs, signInMethodOf } from '../accounts/types.ts'
import { openConsoleDatabase } from '../data-folder.ts'
import { browserName } from '../http/browser-name.ts'
import type { ReadHeader } from '../http/origin.ts'
import { logError } from '../observability/log.ts'
import { registry, slot } from '../registry/registry.ts'
import { storedAccount } from '../upstream/client.ts'

export interface StoredSession extends Omit<SignedInSession, 'is_own' | 'is_current'> {
  account: string
  /** Name from single sign-on. Sessions without one belong to everyone who signs in with an API key. */
  owner: string | null
  expires_ms: number
}

/** Unspecified: precision of the last use. */
const writeEveryMs = 60_000
const maxRemembered = 10_000

// Signed-in browsers. Only the cookies decide who is signed in: a missing row appears with the next use, and one that
// outlived its session is filtered out by `revokedSessions`.
class SessionStore {
  readonly #database: DatabaseSync
  readonly #put: StatementSync
  /** When each session was last written, and how old its cookie was. */
  readonly #written = new Map<string, { atMs: number; renewedAt: number }>()

  constructor(dataDir: string) {
    this.#database = openConsoleDatabase(
      dataDir,
      'signed_in',
      `CREATE TABLE IF NOT EXISTS signed_in (
        id TEXT PRIMARY KEY, account TEXT NOT NULL, owner TEXT, person TEXT, method TEXT NOT NULL, browser TEXT NOT NULL,
        address TEXT NOT NULL, since_ms INTEGER NOT NULL, last_used_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS signed_in_by_account ON signed_in (account, last_used_ms);`,
    )
    this.#put = this.#database.prepare('INSERT OR REPLACE INTO signed_in VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  }

  close(): void {
    this.#database.close()
  }

  /** Stores a use of the session, unless it was stored less than a minute ago with a cookie of the same age. */
  use(session: Session, header: ReadHeader, nowMs: number): void {
    const { sid, renewed_at, created_at } = session
    const before = this.#written.get(sid)
    if (before && nowMs - before.atMs < writeEveryMs && before.renewedAt >= renewed_at) return
    if (this.#written.size >= maxRemembered) this.#written.clear()
    this.#written.set(sid, { atMs: nowMs, renewedAt: renewed_at })
    if (!before) this.#database.prepare('DELETE FROM signed_in WHERE expires_ms <= ?').run(nowMs)
    this.#put.run(
      sid,
      storedAccount(session.account.id),
      session.person ?? null,
      personOf(session, header),
      signInMethodOf(session),
      browserName(header('user-agent') ?? ''),
      header('x-devdeck-client') ?? 'unknown',
      created_at,
      nowMs,
      Math.min(sessionExpiryMs(session), renewed_at + idleSeconds * 1000),
    )
  }

  /** Sessions of an account, last used first. */
  list(account: string, nowMs: number): StoredSession[] {
    return this.#database
      .prepare('SELECT * FROM signed_in WHERE account = ? AND expires_ms > ? ORDER BY last_used_ms DESC, id')
      .all(account, nowMs)
      .map((row) => ({ ...(row as unknown as StoredSession), method: row.method as SignInMethod }))
  }

  remove(sid: string): void {
    this.#database.prepare('DELETE FROM signed_in WHERE id = ?').run(sid)
  }
}

export const sessionStore = slot(
  'sessionStore',
  () => new SessionStore(registry().config.dataDir),
  (store) => store.close(),
)

/** A full disk must not lock anyone out. */
export const recordUse = (session: Session, header: ReadHeader): void => {
  try {
    sessionStore().use(session, header, Date.now())
  } catch (error) {
    logError('The last use of a session could not be stored', error)
  }
}

export const forgetSession = (sid: string): void => {
  try {
    sessionStore().remove(sid)
  } catch (error) {
    logError('An ended session could not be removed from the list', error)
  }
}
