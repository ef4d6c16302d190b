import type { StringMap } from '#lib/contract/common.ts'
import {
  Devbox,
  type DevboxListQuery,
  type DevboxStatus,
  type DevboxUpdate,
  hasEnded,
  trialInitiators,
} from '#lib/contract/devboxes.ts'
import type { Tunnel } from '#lib/contract/tunnels.ts'
import type { EngineKind } from '#lib/service/engine/choose-engine.ts'
import { clause, equals, placeholders } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createTable, fieldsOf, type Page } from './table.ts'

export interface DevboxRecord extends Required<Omit<Devbox, 'capabilities' | 'gateway_specs' | 'mcp_specs'>> {
  seq: number
  account: string
  name: string | null
  environment_variables: StringMap
  secrets: StringMap
  entrypoint: string | null
  snapshot_id: string | null
  /** Agents mounted at creation. */
  agent_names: readonly string[]
  blueprint_id: string | null
  /** Runs in a container of this image. */
  image: string | null
  engine: EngineKind
  tunnel: Tunnel | null
  keep_alive_until_ms: number | null
  last_used_ms: number | null
}

type Later = 'end_time_ms' | 'state_transitions' | 'failure_reason' | 'shutdown_reason' | 'isolation' | 'node'
type NewDevbox = Omit<DevboxRecord, 'seq' | 'agent_names' | 'keep_alive_until_ms' | 'last_used_ms' | Later> &
  Partial<Pick<DevboxRecord, 'agent_names'>>

interface Move {
  status: DevboxStatus
  timeMs: number
  failureReason?: string | undefined
  shutdownReason?: string | undefined
}

export type DevboxStore = ReturnType<typeof createDevboxStore>

export const createDevboxStore = (database: Database) => {
  const fields = fieldsOf(Devbox)
  const table = createTable(database, 'devboxes', {
    json: [
      ...(['launch_parameters', 'environment_variables', 'metadata', 'state_transitions'] as const),
      ...(['tunnel', 'secrets', 'isolation', 'agent_names', 'node'] as const),
    ],
    metadata: 'devbox_metadata',
    view: (row: DevboxRecord): Devbox => ({
      ...fields(row),
      capabilities: [],
      keep_alive_until_ms: row.status === 'running' ? row.keep_alive_until_ms : null,
    }),
  })
  // A failed devbox that has run keeps its disk until it is shut down.
  const hasDisk = `status <> 'shutdown' AND (status <> 'failure' OR state_transitions LIKE '%"status":"running"%')`
  const occupiesNode = "node IS NOT NULL AND status NOT IN ('queued', 'suspended', 'failure', 'shutdown')"
  const countByNode = database.prepare(
    `SELECT node ->> '$.id' AS id, count(*) AS total FROM devboxes WHERE ${occupiesNode} GROUP BY 1`,
  )
  const countWithDisk = database.prepare(`SELECT count(*) AS total FROM devboxes WHERE account = ? AND ${hasDisk}`)

  return {
    ...table,

    insert: (devbox: NewDevbox): void => {
      const { status, create_time_ms } = devbox
      table.insert({ ...devbox, state_transitions: [{ status, transition_time_ms: create_time_ms }] })
    },

    adopt: (devbox: Omit<NewDevbox, 'status'>, status: 'suspended' | 'shutdown', nowMs: number): void => {
      const state_transitions = [
        { status: 'running', transition_time_ms: devbox.create_time_ms },
        { status, transition_time_ms: nowMs },
      ]
      table.insert({ ...devbox, status, state_transitions, ...(status === 'shutdown' && { end_time_ms: nowMs }) })
    },

    /** Longest id of the account that is a prefix of `text`, up to its end, a `-` or a `_`. */
    longestIdPrefix: (account: string, text: string): string | undefined => {
      const ends = [...text.matchAll(/[-_]|$/g)].map(({ index }) => text.slice(0, index))
      return ends.findLast((id) => id !== '' && table.own(account, id))
    },

    list: (account: string, query: DevboxListQuery, before?: number): Page<Devbox> => {
      const isTrial = `devboxes.initiator_type IN (${placeholders(trialInitiators)})`
      const origin = { own: `NOT ${isTrial}`, trial: isTrial }
      return table.list(account, query, before, [
        ...equals('devboxes.status', query.status),
        ...(query.node === undefined
          ? []
          : [clause("? IN (devboxes.node ->> '$.id', devboxes.node ->> '$.hostname')", query.node)]),
        ...(query.origin ? [clause(origin[query.origin], ...trialInitiators)] : []),
      ])
    },

    update: (id: string, { name, metadata }: DevboxUpdate): void =>
      table.update(table.mustFind(id), {
        ...(typeof name === 'string' && { name: name || null }),
        ...(metadata && { metadata }),
      }),

    move: (id: string, { status, timeMs, failureReason, shutdownReason }: Move): void => {
      const { state_transitions, failure_reason } = table.mustFind(id)
      const reason = failureReason === undefined ? {} : { failure_reason: failureReason }
      database.essential(() =>
        table.set(id, {
          status,
          state_transitions: [...state_transitions, { status, transition_time_ms: timeMs, ...reason }],
          end_time_ms: hasEnded(status) ? timeMs : null,
          // Shutting down a failed devbox keeps the reason.
          failure_reason: failureReason ?? (status === 'shutdown' ? failure_reason : null),
          shutdown_reason: shutdownReason ?? null,
        }),
      )
    },

    setKeepAliveUntil: (id: string, timeMs: number | null): void => table.set(id, { keep_alive_until_ms: timeMs }),

    setLastUsed: (times: ReadonlyMap<string, number>): void =>
      inTransaction(database, () => {
        for (const [id, timeMs] of times) table.set(id, { last_used_ms: timeMs })
      }),

    clearUse: (id: string): void => table.set(id, { keep_alive_until_ms: null, last_used_ms: null, node: null }),

    setTunnel: (id: string, tunnel: Tunnel | null): void => table.set(id, { tunnel }),

    byTunnelKey: (key: string): { account: string; id: string; tunnel: Tunnel } | undefined => {
      const [found] = table.where("tunnel IS NOT NULL AND tunnel ->> '$.tunnel_key' = ?", key)
      return found?.tunnel ? { account: found.account, id: found.id, tunnel: found.tunnel } : undefined
    },

    setIsolation: (id: string, isolation: NonNullable<Devbox['isolation']>): void => table.set(id, { isolation }),

    setNode: (id: string, node: (Devbox['node'] & object) | null): void => table.set(id, { node }),

    /** Starting, running and suspending devboxes. */
    onNode: (nodeId: string): string[] =>
      table.where(`node ->> '$.id' = ? AND ${occupiesNode}`, nodeId).map(({ id }) => id),

    /** Suspended devboxes whose disks are on this node only. */
    countSuspendedOn: (nodeId: string): number =>
      table.where("node ->> '$.id' = ? AND status = 'suspended'", nodeId).length,

    countByNode: (): Map<string, number> =>
      new Map(countByNode.all().map(({ id, total }) => [String(id), Number(total)])),

    countWithDisk: (account: string): number => Number(countWithDisk.get(account)?.total),

    withDisk: (): string[] => table.where(hasDisk).map(({ id }) => id),

    unended: (): string[] => table.where("status NOT IN ('failure', 'shutdown')").map(({ id }) => id),
  }
}
