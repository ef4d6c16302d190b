import type { DatabaseSync } from 'node:sqlite'
import type { Share, ShareKind } from '#lib/protocol/shares.ts'
import { openConsoleDatabase } from '../data-folder.ts'

export interface StoredShare extends Share {
  /** Account and key of the person who shared, sealed with the session secret. */
  sealed: string
}

/** Share links by account. Stores only hashes of their tokens. */
export class ShareStore {
  readonly #database: DatabaseSync

  constructor(dataDir: string) {
    this.#database = openConsoleDatabase(
      dataDir,
      'shares',
      `CREATE TABLE IF NOT EXISTS shares (
        id TEXT PRIMARY KEY, account TEXT NOT NULL, token_digest TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
        params TEXT NOT NULL, title TEXT NOT NULL, logs INTEGER NOT NULL, sealed TEXT NOT NULL, by TEXT NOT NULL,
        created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, n_opened INTEGER NOT NULL DEFAULT 0,
        last_opened_ms INTEGER) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS shares_by_account ON shares (account, created_ms);`,
    )
  }

  close(): void {
    this.#database.close()
  }

  add(account: string, tokenDigest: string, share: StoredShare): void {
    const { id, kind, params, title, logs, sealed, by, created_ms, expires_ms } = share
    this.#database
      .prepare(
        `INSERT INTO shares (id, account, token_digest, kind, params, title, logs, sealed, by, created_ms, expires_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        id,
        account,
        tokenDigest,
        kind,
        JSON.stringify(params),
        title,
        Number(logs),
        sealed,
        by,
        created_ms,
        expires_ms,
      )
  }

  /** Deletes expired links. */
  prune(nowMs: number): void {
    this.#database.prepare('DELETE FROM shares WHERE expires_ms <= ?').run(nowMs)
  }

  list(account: string): Share[] {
    const rows = this.#database
      .prepare('SELECT * FROM shares WHERE account = ? ORDER BY created_ms DESC, id DESC')
      .all(account)
    return rows.map((row) => {
      const { sealed: _, ...share } = shareOf(row)
      return share
    })
  }

  /** Undefined for unknown, revoked and expired links. */
  find(tokenDigest: string, nowMs: number): StoredShare | undefined {
    const row = this.#database
      .prepare('SELECT * FROM shares WHERE token_digest = ? AND expires_ms > ?')
      .get(tokenDigest, nowMs)
    return row && shareOf(row)
  }

  countOpening(id: string, nowMs: number): void {
    this.#database.prepare('UPDATE shares SET n_opened = n_opened + 1, last_opened_ms = ? WHERE id = ?').run(nowMs, id)
  }

  remove(account: string, id: string): boolean {
    return this.#database.prepare('DELETE FROM shares WHERE account = ? AND id = ?').run(account, id).changes > 0
  }
}

const shareOf = (row: Record<string, unknown>): StoredShare => ({
  id: String(row.id),
  kind: row.kind as ShareKind,
  params: JSON.parse(String(row.params)) as Record<string, string>,
  title: String(row.title),
  logs: row.logs === 1,
  by: String(row.by),
  created_ms: Number(row.created_ms),
  expires_ms: Number(row.expires_ms),
  n_opened: Number(row.n_opened),
  last_opened_ms: row.last_opened_ms === null ? null : Number(row.last_opened_ms),
  sealed: String(row.sealed),
})
