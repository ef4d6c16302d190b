import { Agent, type AgentCreate, type AgentListQuery } from '#lib/contract/agents.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { type Clause, clause, equals } from './clauses.ts'
import type { Database } from './database.ts'
import { createTable, fieldsOf, type Page } from './table.ts'

export type AgentStore = ReturnType<typeof createAgentStore>

const isLatest = clause(
  'NOT EXISTS (SELECT 1 FROM agents AS o WHERE o.account = agents.account AND o.name = agents.name AND o.seq > agents.seq)',
)

export const createAgentStore = (database: Database) => {
  const fields = fieldsOf(Agent)
  const table = createTable(database, 'agents', {
    json: ['source'],
    view: (row: Agent & { seq: number; account: string }): Agent => fields({ ...row, is_public: false }),
  })
  const remove = database.prepare('DELETE FROM agents WHERE id = ?')
  // Unspecified: devboxes that have not ended.
  const counts = database.prepare(`
    SELECT agent.value AS name, count(DISTINCT devboxes.seq) AS total FROM devboxes, json_each(agent_names) AS agent
    WHERE account = ? AND status NOT IN ('failure', 'shutdown') AND agent_names <> '[]' GROUP BY agent.value`)
  const ofVersion = (version: string | undefined): Clause[] =>
    version === 'latest' ? [isLatest] : equals('agents.version', version)

  return {
    ...table,

    newest: (account: string, name: string): Agent | undefined => {
      const row = table.where('account = ? AND name = ?', account, name).at(-1)
      return row && fields(row)
    },

    list: (account: string, { version, is_public, ...query }: AgentListQuery, before?: number): Page<Agent> =>
      table.list(account, query, before, [...ofVersion(version), ...(is_public ? [clause('0')] : [])]),

    create: (account: string, { name, version, source }: AgentCreate, now: number): Agent => {
      const agent = { id: newId('agt'), account, name, version: version ?? null, source: source ?? null }
      table.insert({ ...agent, create_time_ms: now })
      return table.get(account, agent.id) as Agent
    },

    delete: (id: string) => void remove.run(id),

    devboxCounts: (account: string): Record<string, number> =>
      Object.fromEntries(counts.all(account).map(({ name, total }) => [`${name}`, Number(total)])),
  }
}
