import type { CustomScorer, CustomScorerInput } from '#lib/contract/scenarios.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { type Database, returning } from './database.ts'
import { type Page, readPage } from './pages.ts'
import { createRows } from './rows.ts'

interface ScorerRow extends CustomScorer {
  seq: number
  account: string
}

export type ScorerStore = ReturnType<typeof createScorerStore>

export const createScorerStore = (database: Database) => {
  const columns = 'id, type, bash_script'
  const insert = database.prepare(`
    INSERT INTO scorers (id, account, type, bash_script) VALUES (?, ?, ?, ?)
    ON CONFLICT (account, type) DO NOTHING RETURNING ${columns}`)
  const change = database.prepare(`UPDATE scorers SET type = ?, bash_script = ? WHERE seq = ? RETURNING ${columns}`)
  const rows = createRows<ScorerRow>(database, 'scorers')
  const byType = database.prepare('SELECT * FROM scorers WHERE account = ? AND type = ?')

  const ofType = (account: string, type: string) => byType.get(account, type) as ScorerRow | undefined

  return {
    /** Undefined when the account has a scorer of that type. */
    create: (account: string, { type, bash_script }: CustomScorerInput): CustomScorer | undefined =>
      returning<CustomScorer>(database, insert, newId('scs'), account, type, bash_script),

    get: (account: string, id: string): CustomScorer | undefined => {
      const row = rows.own(account, id)
      return row && toScorer(row)
    },

    byType: (account: string, type: string): CustomScorer | undefined => {
      const row = ofType(account, type)
      return row && toScorer(row)
    },

    /** Undefined when another scorer of the account has that type. */
    update: (account: string, id: string, { type, bash_script }: CustomScorerInput): CustomScorer | undefined => {
      const row = rows.own(account, id)
      const holder = ofType(account, type)
      if (!row || (holder && holder.id !== id)) return undefined
      return returning<CustomScorer>(database, change, type, bash_script, row.seq)
    },

    position: (account: string, id: string): number | undefined => rows.own(account, id)?.seq,

    list: (
      account: string,
      query: { limit: number; include_total_count: boolean },
      before?: number,
    ): Page<CustomScorer> =>
      readPage(database, 'scorers', [{ sql: 'account = ?', values: [account] }], query, before, toScorer),
  }
}

const toScorer = ({ id, type, bash_script }: ScorerRow): CustomScorer => ({ id, type, bash_script })
