import type { DatabaseSync } from 'node:sqlite'
import type { DemoItem } from '#lib/protocol/demo.ts'
import { openConsoleDatabase } from '../data-folder.ts'

export interface StoredDemo {
  state: 'loading' | 'loaded' | 'failed' | 'removing'
  items: DemoItem[]
  problem: string | null
}

/** What the demo created in each account, so that it can be removed after a restart. */
export class DemoStore {
  readonly #database: DatabaseSync

  constructor(dataDir: string) {
    this.#database = openConsoleDatabase(
      dataDir,
      'demo',
      'CREATE TABLE IF NOT EXISTS demo (account TEXT PRIMARY KEY, demo TEXT NOT NULL);',
    )
  }

  close(): void {
    this.#database.close()
  }

  get(account: string): StoredDemo | undefined {
    const row = this.#database.prepare('SELECT demo FROM demo WHERE account = ?').get(account)
    return row && (JSON.parse(String(row.demo)) as StoredDemo)
  }

  put(account: string, demo: StoredDemo): void {
    this.#database
      .prepare(
        'INSERT INTO demo (account, demo) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET demo = excluded.demo',
      )
      .run(account, JSON.stringify(demo))
  }

  remove(account: string): void {
    this.#database.prepare('DELETE FROM demo WHERE account = ?').run(account)
  }
}
