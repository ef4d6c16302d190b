import { CustomScorer, type CustomScorerInput } from '#lib/contract/scenarios.ts'
import { newId } from '#lib/service/kit/ids.ts'
import type { Database } from './database.ts'
import { createTable, fieldsOf } from './table.ts'

export const createScorerStore = (database: Database) => {
  const fields = fieldsOf(CustomScorer)
  const table = createTable(database, 'scorers', {
    view: (row: CustomScorer & { seq: number; account: string }): CustomScorer => fields(row),
  })
  const byType = (account: string, type: string): CustomScorer | undefined =>
    table.where('account = ? AND type = ?', account, type)[0]

  return {
    ...table,

    create: (account: string, { type, bash_script }: CustomScorerInput): CustomScorer | undefined => {
      if (byType(account, type)) return undefined
      return fields(table.insert({ id: newId('scs'), type, bash_script, account }))
    },

    byType,

    update: (account: string, id: string, { type, bash_script }: CustomScorerInput): CustomScorer | undefined => {
      const holder = byType(account, type)
      if (holder && holder.id !== id) return undefined
      table.set(id, { type, bash_script })
      return { id, type, bash_script }
    },
  }
}
