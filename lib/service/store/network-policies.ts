import type {
  Egress,
  NetworkPolicy,
  NetworkPolicyCreate,
  NetworkPolicyListQuery,
  NetworkPolicyUpdate,
} from '#lib/contract/network-policies.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { type Clause, commonClauses } from './clauses.ts'
import type { Database } from './database.ts'
import { equals, type Page, readPage } from './pages.ts'

interface NetworkPolicyRow {
  seq: number
  id: string
  account: string
  name: string
  description: string | null
  create_time_ms: number
  update_time_ms: number
  egress: string
}

export type NetworkPolicyStore = ReturnType<typeof createNetworkPolicyStore>

export const createNetworkPolicyStore = (database: Database) => {
  const byId = database.prepare('SELECT * FROM network_policies WHERE id = ? AND account = ?')
  const byName = database.prepare('SELECT id FROM network_policies WHERE account = ? AND name = ?')
  const insert = database.prepare(`
    INSERT INTO network_policies (id, account, name, description, create_time_ms, update_time_ms, egress)
    VALUES (?, ?, ?, ?, ?, ?, ?)`)
  const set = database.prepare(
    'UPDATE network_policies SET name = ?, description = ?, update_time_ms = ?, egress = ? WHERE id = ?',
  )
  const remove = database.prepare('DELETE FROM network_policies WHERE id = ?')
  const user = database.prepare(`
    SELECT id FROM devboxes
    WHERE account = ? AND status NOT IN ('failure', 'shutdown') AND launch_parameters ->> '$.network_policy_id' = ?
    ORDER BY seq LIMIT 1`)

  const row = (account: string, id: string) => byId.get(id, account) as NetworkPolicyRow | undefined

  return {
    get: (account: string, id: string): NetworkPolicy | undefined => {
      const found = row(account, id)
      return found && toPolicy(found)
    },

    /** The id of the account's policy of that name. */
    idOf: (account: string, name: string): string | undefined =>
      (byName.get(account, name) as { id: string } | undefined)?.id,

    /** The id of a devbox that has not ended and names the policy. */
    userOf: (account: string, id: string): string | undefined =>
      (user.get(account, id) as { id: string } | undefined)?.id,

    /** The place of a policy in its account's order, for `list` to go on from. */
    position: (account: string, id: string): number | undefined => row(account, id)?.seq,

    /** Newest first; `before` is the position of the last policy already seen. */
    list: (account: string, query: NetworkPolicyListQuery, before?: number): Page<NetworkPolicy> =>
      readPage(database, 'network_policies', filter(account, query), query, before, toPolicy),

    create: (account: string, { name, description, ...given }: NetworkPolicyCreate, now: number): NetworkPolicy => {
      const policy = {
        id: newId('npl'),
        name,
        description: description || null,
        create_time_ms: now,
        update_time_ms: now,
        egress: changed(nothingAllowed, given),
      }
      insert.run(policy.id, account, name, policy.description, now, now, JSON.stringify(policy.egress))
      return policy
    },

    update: (
      policy: NetworkPolicy,
      { name, description, ...given }: NetworkPolicyUpdate,
      now: number,
    ): NetworkPolicy => {
      const next = {
        ...policy,
        name: name ?? policy.name,
        description: typeof description === 'string' ? description || null : (policy.description ?? null),
        update_time_ms: now,
        egress: changed(policy.egress, given),
      }
      set.run(next.name, next.description, now, JSON.stringify(next.egress), policy.id)
      return next
    },

    delete: (id: string): void => {
      remove.run(id)
    },
  }
}

const nothingAllowed: Egress = {
  allow_all: false,
  allow_devbox_to_devbox: false,
  allow_agent_gateway: false,
  allow_mcp_gateway: false,
  allow_runloop_mirrors: false,
  allowed_hostnames: [],
  allowed_cidrs: [],
}

/** The rules with those that are given in the place of the old ones; who may reach all may reach devboxes. */
const changed = (old: Egress, given: Partial<{ [K in keyof Egress]: Egress[K] | null | undefined }>): Egress => {
  const next = { ...old }
  for (const [rule, value] of Object.entries(given))
    if (value !== null && value !== undefined) Object.assign(next, { [rule]: value })
  return next.allow_all ? { ...next, allow_devbox_to_devbox: true } : next
}

const filter = (account: string, { id, ...common }: NetworkPolicyListQuery): Clause[] => [
  ...commonClauses('network_policies', account, common),
  ...equals('id', id),
]

const toPolicy = ({ egress, ...row }: NetworkPolicyRow): NetworkPolicy => ({
  id: row.id,
  name: row.name,
  description: row.description,
  create_time_ms: row.create_time_ms,
  update_time_ms: row.update_time_ms,
  egress: JSON.parse(egress),
})
