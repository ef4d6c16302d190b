import type { StringMap } from '#lib/contract/common.ts'
import {
  type Devbox,
  type DevboxListQuery,
  type DevboxStatus,
  type DevboxUpdate,
  hasEnded,
  trialInitiators,
} from '#lib/contract/devboxes.ts'
import type { Tunnel } from '#lib/contract/tunnels.ts'
import { type Clause, equals } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createTable, type Page } from './table.ts'

export interface DevboxRecord extends Required<Omit<Devbox, 'capabilities' | 'blueprint_id'>> {
  seq: number
  account: string
  name: string | null
  environment_variables: StringMap
  secrets: StringMap
  entrypoint: string | null
  snapshot_id: string | null
  tunnel: Tunnel | null
  keep_alive_until_ms: number | null
  last_used_ms: number | null
}

type Later = 'end_time_ms' | 'state_transitions' | 'failure_reason' | 'shutdown_reason' | 'isolation'

export interface NewDevbox extends Omit<DevboxRecord, 'seq' | 'keep_alive_until_ms' | 'last_used_ms' | Later> {
  status: DevboxStatus
}

interface Move {
  status: DevboxStatus
  timeMs: number
  failureReason?: string | undefined
  shutdownReason?: string | undefined
}

export type DevboxStore = ReturnType<typeof createDevboxStore>

export const createDevboxStore = (database: Database) => {
  const table = createTable(database, 'devboxes', {
    json: [
      'launch_parameters',
      'environment_variables',
      'metadata',
      'state_transitions',
      'tunnel',
      'secrets',
      'isolation',
    ],
    metadata: 'devbox_metadata',
    view: toDevbox,
  })
  // A failed devbox that has run keeps its disk until it is shut down.
  const countWithDisk = database.prepare(`
    SELECT count(*) AS total FROM devboxes
    WHERE account = ? AND status <> 'shutdown'
      AND (status <> 'failure' OR state_transitions LIKE '%"status":"running"%')`)
  const unended = database.prepare("SELECT id FROM devboxes WHERE status NOT IN ('failure', 'shutdown') ORDER BY seq")

  return {
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

    get: table.get,

    find: table.find,

    mustFind: table.mustFind,

    /** Longest id of the account that is a prefix of `text`, up to its end, a `-` or a `_`. */
    longestIdPrefix: (account: string, text: string): string | undefined => {
      for (
        let end = text.length;
        end > 0;
        end = Math.max(text.lastIndexOf('-', end - 1), text.lastIndexOf('_', end - 1))
      ) {
        const id = text.slice(0, end)
        if (table.own(account, id)) return id
      }
      return undefined
    },

    position: table.position,

    list: (account: string, query: DevboxListQuery, before?: number): Page<Devbox> =>
      table.list(account, query, before, [...equals('devboxes.status', query.status), ...originClause(query.origin)]),

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

    /** Clears keep-alive and last use before a restart. */
    clearUse: (id: string): void => table.set(id, { keep_alive_until_ms: null, last_used_ms: null }),

    setTunnel: (id: string, tunnel: Tunnel | null): void => table.set(id, { tunnel }),

    byTunnelKey: (key: string): { account: string; id: string; tunnel: Tunnel } | undefined => {
      const [found] = table.where("tunnel IS NOT NULL AND tunnel ->> '$.tunnel_key' = ?", key)
      return found?.tunnel ? { account: found.account, id: found.id, tunnel: found.tunnel } : undefined
    },

    setIsolation: (id: string, isolation: NonNullable<Devbox['isolation']>): void => table.set(id, { isolation }),

    metadataKeys: table.metadataKeys,
    metadataValues: table.metadataValues,

    countWithDisk: (account: string): number => (countWithDisk.get(account) as { total: number }).total,

    unended: (): string[] => unended.all().map(({ id }) => id as string),
  }
}

const originClause = (origin: DevboxListQuery['origin']): Clause[] =>
  origin === undefined
    ? []
    : [
        {
          sql: `devboxes.initiator_type ${origin === 'own' ? 'NOT IN' : 'IN'} (${trialInitiators.map(() => '?').join(', ')})`,
          values: [...trialInitiators],
        },
      ]

const toDevbox = (row: DevboxRecord): Devbox => ({
  id: row.id,
  name: row.name,
  status: row.status,
  create_time_ms: row.create_time_ms,
  end_time_ms: row.end_time_ms,
  launch_parameters: row.launch_parameters,
  metadata: row.metadata,
  capabilities: [],
  state_transitions: row.state_transitions,
  blueprint_id: null,
  snapshot_id: row.snapshot_id,
  failure_reason: row.failure_reason,
  shutdown_reason: row.shutdown_reason,
  initiator_type: row.initiator_type,
  initiator_id: row.initiator_id,
  tunnel: row.tunnel,
  keep_alive_until_ms: row.status === 'running' ? row.keep_alive_until_ms : null,
  last_used_ms: row.last_used_ms,
  isolation: row.isolation,
})
