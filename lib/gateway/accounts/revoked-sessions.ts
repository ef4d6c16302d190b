import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { openConsoleDatabase } from '../data-folder.ts'
import { logError } from '../observability/log.ts'
import { registry, slot } from '../registry/registry.ts'

export interface RevokedSession {
  /** Another account took its place in the browser. */
  isReplaced: boolean
}

/** Signed-out sessions until their cookies expire, on disk so that restarts and other consoles on the folder refuse them. */
export class RevokedSessions {
  readonly #database: DatabaseSync
  readonly #find: StatementSync
  readonly #unwritten = new Map<string, RevokedSession>()

  constructor(dataDir: string) {
    this.#database = openConsoleDatabase(
      dataDir,
      'sessions',
      // A sign-out must survive a power cut.
      `PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS revoked_sessions (
        sid TEXT PRIMARY KEY, until_ms INTEGER NOT NULL, is_replaced INTEGER NOT NULL) WITHOUT ROWID;`,
    )
    this.#find = this.#database.prepare('SELECT is_replaced FROM revoked_sessions WHERE sid = ?')
  }

  close(): void {
    this.#database.close()
  }

  add(sid: string, untilMs: number, isReplaced: boolean): void {
    try {
      this.#database.prepare('DELETE FROM revoked_sessions WHERE until_ms < ?').run(Date.now())
      this.#database
        .prepare('INSERT OR REPLACE INTO revoked_sessions VALUES (?, ?, ?)')
        .run(sid, untilMs, Number(isReplaced))
    } catch (error) {
      logError('A sign-out could not be stored and will be lost when the console restarts', error)
      this.#unwritten.set(sid, { isReplaced })
    }
  }

  find(sid: string): RevokedSession | undefined {
    const row = this.#find.get(sid)
    return row ? { isReplaced: row.is_replaced === 1 } : this.#unwritten.get(sid)
  }
}

export const revokedSessions = slot(
  'revokedSessions',
  () => new RevokedSessions(registry().config.dataDir),
  (sessions) => sessions.close(),
)
