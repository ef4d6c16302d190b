import type { DatabaseSync } from 'node:sqlite'
import type { Support } from '#lib/protocol/support.ts'
import { openConsoleDatabase } from '../data-folder.ts'

export interface StoredSupport {
  /** Version of the service; null if it reports none. */
  version: string | null
  learned_at_ms: number
  operations: Record<string, Support>
  /** Whether the service listed its operations itself. */
  isListed: boolean
}

/** What is known about each service, by service and account. */
export class SupportStore {
  readonly #database: DatabaseSync

  constructor(dataDir: string) {
    this.#database = openConsoleDatabase(
      dataDir,
      'support',
      'CREATE TABLE IF NOT EXISTS support (account TEXT PRIMARY KEY, learned TEXT NOT NULL);',
    )
  }

  close(): void {
    this.#database.close()
  }

  get(account: string): StoredSupport | undefined {
    const row = this.#database.prepare('SELECT learned FROM support WHERE account = ?').get(account)
    return row && (JSON.parse(String(row.learned)) as StoredSupport)
  }

  put(account: string, learned: StoredSupport): void {
    this.#database
      .prepare(
        'INSERT INTO support (account, learned) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET learned = excluded.learned',
      )
      .run(account, JSON.stringify(learned))
  }
}
