import type {
  Egress,
  NetworkPolicy,
  NetworkPolicyCreate,
  NetworkPolicyListQuery,
  NetworkPolicyUpdate,
} from '#lib/contract/network-policies.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { equals } from './clauses.ts'
import type { Database } from './database.ts'
import { createTable, type Page } from './table.ts'

interface NetworkPolicyRow extends NetworkPolicy {
  seq: number
  account: string
}

export type NetworkPolicyStore = ReturnType<typeof createNetworkPolicyStore>

export const createNetworkPolicyStore = (database: Database) => {
  const table = createTable(database, 'network_policies', {
    json: ['egress'],
    view: ({ seq: _, account: __, ...policy }: NetworkPolicyRow): NetworkPolicy => policy,
  })
  const byName = database.prepare('SELECT id FROM network_policies WHERE account = ? AND name = ?')
  const remove = database.prepare('DELETE FROM network_policies WHERE id = ?')
  const user = database.prepare(`
    SELECT id FROM devboxes
    WHERE account = ? AND status NOT IN ('failure', 'shutdown') AND launch_parameters ->> '$.network_policy_id' = ?
    ORDER BY seq LIMIT 1`)

  return {
    get: table.get,

    idByName: (account: string, name: string): string | undefined =>
      (byName.get(account, name) as { id: string } | undefined)?.id,

    devboxUsing: (account: string, id: string): string | undefined =>
      (user.get(account, id) as { id: string } | undefined)?.id,

    position: table.position,

    list: (account: string, query: NetworkPolicyListQuery, before?: number): Page<NetworkPolicy> =>
      table.list(account, query, before, equals('id', query.id)),

    create: (account: string, { name, description, ...rules }: NetworkPolicyCreate, now: number): NetworkPolicy => {
      const policy = {
        id: newId('npl'),
        name,
        description: description || null,
        create_time_ms: now,
        update_time_ms: now,
        egress: mergeRules(denyAll, rules),
      }
      table.insert({ ...policy, account })
      return policy
    },

    update: (
      policy: NetworkPolicy,
      { name, description, ...rules }: NetworkPolicyUpdate,
      now: number,
    ): NetworkPolicy => {
      const next = {
        ...policy,
        name: name ?? policy.name,
        description: typeof description === 'string' ? description || null : (policy.description ?? null),
        update_time_ms: now,
        egress: mergeRules(policy.egress, rules),
      }
      table.set(policy.id, next)
      return next
    },

    delete: (id: string): void => {
      remove.run(id)
    },
  }
}

const denyAll: Egress = {
  allow_all: false,
  allow_devbox_to_devbox: false,
  allow_agent_gateway: false,
  allow_mcp_gateway: false,
  allow_runloop_mirrors: false,
  allowed_hostnames: [],
  allowed_cidrs: [],
}

/** Null and undefined keep the old rule. allow_all includes other devboxes. */
const mergeRules = (old: Egress, changes: Partial<{ [K in keyof Egress]: Egress[K] | null | undefined }>): Egress => {
  const next = { ...old }
  for (const [rule, value] of Object.entries(changes))
    if (value !== null && value !== undefined) Object.assign(next, { [rule]: value })
  return next.allow_all ? { ...next, allow_devbox_to_devbox: true } : next
}
