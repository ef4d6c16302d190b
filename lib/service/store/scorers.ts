import type { CustomScorer, CustomScorerInput } from '#lib/contract/scenarios.ts'
import { newId } from '#lib/service/kit/ids.ts'
import type { Database } from './database.ts'
import { createTable } from './table.ts'

interface ScorerRow extends CustomScorer {
  seq: number
  account: string
}

export const createScorerStore = (database: Database) => {
  const table = createTable(database, 'scorers', {
    json: [],
    view: ({ id, type, bash_script }: ScorerRow): CustomScorer => ({ id, type, bash_script }),
  })
  const byType = (account: string, type: string): CustomScorer | undefined =>
    table.where('account = ? AND type = ?', account, type)[0]

  return {
    create: (account: string, { type, bash_script }: CustomScorerInput): CustomScorer | undefined => {
      if (byType(account, type)) return undefined
      const scorer = { id: newId('scs'), type, bash_script }
      table.insert({ ...scorer, account })
      return scorer
    },

    get: table.get,

    byType,

    update: (account: string, id: string, { type, bash_script }: CustomScorerInput): CustomScorer | undefined => {
      const holder = byType(account, type)
      if (holder && holder.id !== id) return undefined
      table.set(id, { type, bash_script })
      return { id, type, bash_script }
    },

    position: table.position,
    list: table.list,
  }
}
