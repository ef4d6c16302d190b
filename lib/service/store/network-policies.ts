import {
  type Egress,
  NetworkPolicy,
  type NetworkPolicyCreate,
  type NetworkPolicyListQuery,
  type NetworkPolicyUpdate,
} from '#lib/contract/network-policies.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { equals } from './clauses.ts'
import type { Database } from './database.ts'
import { createTable, fieldsOf, type Page } from './table.ts'

export type NetworkPolicyStore = ReturnType<typeof createNetworkPolicyStore>

export const createNetworkPolicyStore = (database: Database) => {
  const fields = fieldsOf(NetworkPolicy)
  const table = createTable(database, 'network_policies', {
    json: ['egress'],
    view: (row: NetworkPolicy & { seq: number; account: string }): NetworkPolicy => fields(row),
  })
  const remove = database.prepare('DELETE FROM network_policies WHERE id = ?')
  const user = database.prepare(`
    SELECT id FROM devboxes
    WHERE account = ? AND status NOT IN ('failure', 'shutdown') AND launch_parameters ->> '$.network_policy_id' = ?
    ORDER BY seq LIMIT 1`)

  return {
    ...table,

    idByName: (account: string, name: string): string | undefined =>
      table.where('account = ? AND name = ?', account, name)[0]?.id,

    devboxUsing: (account: string, id: string) => user.get(account, id)?.id as string | undefined,

    list: (account: string, query: NetworkPolicyListQuery, before?: number): Page<NetworkPolicy> =>
      table.list(account, query, before, equals('id', query.id)),

    create: (account: string, { name, description, ...rules }: NetworkPolicyCreate, now: number): NetworkPolicy =>
      fields(
        table.insert({
          id: newId('npl'),
          account,
          name,
          description: description || null,
          create_time_ms: now,
          update_time_ms: now,
          egress: mergeRules(denyAll, rules),
        }),
      ),

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

    delete: (id: string) => void remove.run(id),
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
  const given = Object.entries(changes).filter(([, value]) => value !== null && value !== undefined)
  const next: Egress = { ...old, ...Object.fromEntries(given) }
  return next.allow_all ? { ...next, allow_devbox_to_devbox: true } : next
}
