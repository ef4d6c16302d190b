import type { StringMap } from '#lib/contract/common.ts'
import {
  type Devbox,
  type DevboxListQuery,
  type DevboxStatus,
  type DevboxUpdate,
  hasEnded,
  type LaunchParameters,
} from '#lib/contract/devboxes.ts'
import type { Tunnel } from '#lib/contract/tunnels.ts'
import { type Clause, commonClauses } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createMetadataIndex } from './metadata.ts'
import { equals, type Page, readPage } from './pages.ts'
import { createRows } from './rows.ts'

interface DevboxRow {
  seq: number
  id: string
  account: string
  name: string | null
  status: string
  create_time_ms: number
  end_time_ms: number | null
  launch_parameters: string
  environment_variables: string
  entrypoint: string | null
  metadata: string
  state_transitions: string
  tunnel: string | null
  failure_reason: string | null
  shutdown_reason: string | null
  keep_alive_until_ms: number | null
  snapshot_id: string | null
  secrets: string
  isolation: string | null
  initiator_type: string
  initiator_id: string | null
  last_used_ms: number | null
}

/** What a devbox is started with, whoever asks. */
export interface DevboxSpec {
  id: string
  account: string
  name: string | null
  status: string
  launch_parameters: LaunchParameters
  environment_variables: StringMap
  /** Names of secrets by environment variable. */
  secrets: StringMap
  entrypoint: string | null
  snapshot_id: string | null
  keep_alive_until_ms: number | null
  last_used_ms: number | null
}

export interface NewDevbox extends Omit<DevboxSpec, 'status' | 'keep_alive_until_ms' | 'last_used_ms'> {
  status: DevboxStatus
  create_time_ms: number
  metadata: StringMap
  tunnel: Devbox['tunnel']
  initiator_type: NonNullable<Devbox['initiator_type']>
  initiator_id: string | null
}

interface Move {
  status: DevboxStatus
  timeMs: number
  failureReason?: string | undefined
  shutdownReason?: string | undefined
}

export type DevboxStore = ReturnType<typeof createDevboxStore>

export const createDevboxStore = (database: Database) => {
  const insert = database.prepare(`
    INSERT INTO devboxes (id, account, name, status, create_time_ms, launch_parameters, environment_variables, entrypoint, metadata, state_transitions, tunnel, snapshot_id, secrets, initiator_type, initiator_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const rows = createRows<DevboxRow>(database, 'devboxes')
  const index = createMetadataIndex(database, 'devbox_metadata')
  const rename = database.prepare('UPDATE devboxes SET name = ? WHERE seq = ?')
  const setMetadata = database.prepare('UPDATE devboxes SET metadata = ? WHERE seq = ?')
  const setStatus = database.prepare(`
    UPDATE devboxes SET status = ?, state_transitions = ?, end_time_ms = ?, failure_reason = ?, shutdown_reason = ? WHERE seq = ?`)
  const setKeepAlive = database.prepare('UPDATE devboxes SET keep_alive_until_ms = ? WHERE id = ?')
  const setTunnel = database.prepare('UPDATE devboxes SET tunnel = ? WHERE id = ?')
  const byTunnelKey = database.prepare(
    "SELECT * FROM devboxes WHERE tunnel IS NOT NULL AND tunnel ->> '$.tunnel_key' = ?",
  )
  const setIsolation = database.prepare('UPDATE devboxes SET isolation = ? WHERE id = ?')
  const setLastUsed = database.prepare('UPDATE devboxes SET last_used_ms = ? WHERE id = ?')
  const forgetUse = database.prepare('UPDATE devboxes SET keep_alive_until_ms = NULL, last_used_ms = NULL WHERE id = ?')
  const countUnended = database.prepare(
    "SELECT count(*) AS total FROM devboxes WHERE account = ? AND status NOT IN ('failure', 'shutdown')",
  )
  const unended = database.prepare("SELECT id FROM devboxes WHERE status NOT IN ('failure', 'shutdown') ORDER BY seq")

  return {
    insert: (devbox: NewDevbox): void =>
      inTransaction(database, () => {
        const transitions = [{ status: devbox.status, transition_time_ms: devbox.create_time_ms }]
        const { lastInsertRowid: seq } = insert.run(
          devbox.id,
          devbox.account,
          devbox.name,
          devbox.status,
          devbox.create_time_ms,
          JSON.stringify(devbox.launch_parameters),
          JSON.stringify(devbox.environment_variables),
          devbox.entrypoint,
          JSON.stringify(devbox.metadata),
          JSON.stringify(transitions),
          devbox.tunnel ? JSON.stringify(devbox.tunnel) : null,
          devbox.snapshot_id,
          JSON.stringify(devbox.secrets),
          devbox.initiator_type,
          devbox.initiator_id,
        )
        index.add(devbox.account, seq, devbox.metadata)
      }),

    get: (account: string, id: string): Devbox | undefined => {
      const found = rows.own(account, id)
      return found && toDevbox(found)
    },

    has: (id: string): boolean => rows.find(id) !== undefined,

    spec: (id: string): DevboxSpec => toSpec(rows.known(id)),

    /** The longest id of the account that `text` is, or starts with before a `-` or `_`. */
    idAtStart: (account: string, text: string): string | undefined => {
      for (
        let end = text.length;
        end > 0;
        end = Math.max(text.lastIndexOf('-', end - 1), text.lastIndexOf('_', end - 1))
      ) {
        const id = text.slice(0, end)
        if (rows.own(account, id)) return id
      }
      return undefined
    },

    /** The place of a devbox in its account's order, for `list` to go on from. */
    position: (account: string, id: string): number | undefined => rows.own(account, id)?.seq,

    /** Newest first, ended ones included; `before` is the position of the last devbox already seen. */
    list: (account: string, query: DevboxListQuery, before?: number): Page<Devbox> =>
      readPage(database, 'devboxes', filter(account, query), query, before, toDevbox),

    update: (id: string, { name, metadata }: DevboxUpdate): void =>
      inTransaction(database, () => {
        const { seq, account, metadata: before } = rows.known(id)
        if (typeof name === 'string') rename.run(name || null, seq)
        if (!metadata) return
        index.remove(account, seq, JSON.parse(before))
        setMetadata.run(JSON.stringify(metadata), seq)
        index.add(account, seq, metadata)
      }),

    move: (id: string, { status, timeMs, failureReason, shutdownReason }: Move): void => {
      const { seq, state_transitions } = rows.known(id)
      const reason = failureReason === undefined ? {} : { failure_reason: failureReason }
      const transitions = [...JSON.parse(state_transitions), { status, transition_time_ms: timeMs, ...reason }]
      const end = hasEnded(status) ? timeMs : null
      database.essential(() =>
        setStatus.run(status, JSON.stringify(transitions), end, failureReason ?? null, shutdownReason ?? null, seq),
      )
    },

    keepAliveUntil: (id: string, timeMs: number | null): void => {
      setKeepAlive.run(timeMs, id)
    },

    /** When each devbox was last used; all are written, or none. */
    lastUsed: (times: ReadonlyMap<string, number>): void =>
      inTransaction(database, () => {
        for (const [id, timeMs] of times) setLastUsed.run(timeMs, id)
      }),

    /** The devbox is to run anew: its keep-alive time and its idle time begin with that. */
    forgetUse: (id: string): void => {
      forgetUse.run(id)
    },

    setTunnel: (id: string, tunnel: Tunnel | null): void => {
      setTunnel.run(tunnel && JSON.stringify(tunnel), id)
    },

    /** The devbox that has the tunnel, of whichever account. */
    byTunnelKey: (key: string): { account: string; id: string; tunnel: Tunnel } | undefined => {
      const found = byTunnelKey.get(key) as DevboxRow | undefined
      return found?.tunnel ? { account: found.account, id: found.id, tunnel: JSON.parse(found.tunnel) } : undefined
    },

    isolation: (id: string, isolation: NonNullable<Devbox['isolation']>): void => {
      setIsolation.run(JSON.stringify(isolation), id)
    },

    metadataKeys: index.keys,
    metadataValues: index.values,

    /** How many of the account's devboxes have not ended. */
    countUnended: (account: string): number => (countUnended.get(account) as { total: number }).total,

    /** Ids of all accounts' devboxes that can still run, oldest first. */
    unended: (): string[] => unended.all().map(({ id }) => id as string),
  }
}

const filter = (account: string, { status, ...common }: DevboxListQuery): Clause[] => [
  ...commonClauses('devboxes', account, common, 'devbox_metadata'),
  ...equals('devboxes.status', status),
]

const toSpec = (row: DevboxRow): DevboxSpec => ({
  id: row.id,
  account: row.account,
  name: row.name,
  status: row.status,
  launch_parameters: JSON.parse(row.launch_parameters),
  environment_variables: JSON.parse(row.environment_variables),
  secrets: JSON.parse(row.secrets),
  entrypoint: row.entrypoint,
  snapshot_id: row.snapshot_id,
  keep_alive_until_ms: row.keep_alive_until_ms,
  last_used_ms: row.last_used_ms,
})

const toDevbox = (row: DevboxRow): Devbox => ({
  id: row.id,
  name: row.name,
  status: row.status,
  create_time_ms: row.create_time_ms,
  end_time_ms: row.end_time_ms,
  launch_parameters: JSON.parse(row.launch_parameters),
  metadata: JSON.parse(row.metadata),
  capabilities: [],
  state_transitions: JSON.parse(row.state_transitions),
  blueprint_id: null,
  snapshot_id: row.snapshot_id,
  failure_reason: row.failure_reason,
  shutdown_reason: row.shutdown_reason,
  initiator_type: row.initiator_type,
  initiator_id: row.initiator_id,
  tunnel: row.tunnel === null ? null : JSON.parse(row.tunnel),
  isolation: row.isolation === null ? null : JSON.parse(row.isolation),
})
