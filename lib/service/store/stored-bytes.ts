import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Axon } from '#lib/contract/axons.ts'
import { ifMissing } from '#lib/service/kit/errors.ts'
import type { NewEvent } from './axons/events.ts'
import type { Database } from './database.ts'
import type { StorageQuota } from './storage-quota.ts'

const batchRows = 2_000

/** Bytes of an axon in the database. Metadata counts twice: in the row and in the index. */
export const axonBytes = ({ name, metadata }: Pick<Axon, 'name' | 'metadata'>): number =>
  Buffer.byteLength(name ?? '') + 2 * Buffer.byteLength(JSON.stringify(metadata))

export const eventBytes = ({ payload, source, event_type }: Pick<NewEvent, 'payload' | 'source' | 'event_type'>) =>
  Buffer.byteLength(payload) + Buffer.byteLength(source) + Buffer.byteLength(event_type)

interface StoredRow {
  axon: number
  sequence: number
  account: string
  bytes: number
}

interface Options {
  database: Database
  dataDir: string
  quota: StorageQuota
  signal: AbortSignal
}

/** Adds what was stored before this start to the quota, in small steps while the service runs. */
export const countStored = async ({ database, dataDir, quota, signal }: Options): Promise<void> => {
  const startMs = Date.now()
  const snapshots = database.prepare(
    "SELECT account, sum(size_bytes) AS bytes FROM snapshots WHERE status = 'complete' GROUP BY account",
  )
  for (const { account, bytes } of snapshots.all()) quota.add(`${account}`, 'snapshots', Number(bytes ?? 0))
  const blueprints = database.prepare(
    "SELECT account, sum(size_bytes) AS bytes FROM blueprints WHERE state = 'created' AND image IS NULL GROUP BY account",
  )
  for (const { account, bytes } of blueprints.all()) quota.add(`${account}`, 'blueprints', Number(bytes ?? 0))

  const objects = database.prepare(
    "SELECT account, sum(size_bytes) AS bytes FROM objects WHERE state <> 'DELETED' GROUP BY account",
  )
  for (const { account, bytes } of objects.all()) quota.add(`${account}`, 'objects', Number(bytes ?? 0))

  const axons = `
    SELECT seq AS axon, 0 AS sequence, account, coalesce(octet_length(name), 0) + 2 * octet_length(metadata) AS bytes
    FROM axons WHERE seq > ? AND ? = 0 AND created_at_ms < ? ORDER BY seq LIMIT ${batchRows}`
  const events = `
    SELECT axon, sequence, account, octet_length(payload) + octet_length(source) + octet_length(event_type) AS bytes
    FROM axon_events CROSS JOIN axons ON seq = axon
    WHERE (axon, sequence) > (?, ?) AND timestamp_ms < ? ORDER BY axon, sequence LIMIT ${batchRows}`
  for (const statement of [database.prepare(axons), database.prepare(events)])
    for (let [axon, sequence] = [0, 0]; axon !== -1 && !signal.aborted; ) {
      const rows = statement.all(axon, sequence, startMs) as unknown as StoredRow[]
      for (const { account, bytes } of rows) quota.add(account, 'axons', bytes)
      ;({ axon, sequence } = rows.length < batchRows ? { axon: -1, sequence: 0 } : (rows.at(-1) as StoredRow))
      await nextTurn()
    }

  const accountIn = (table: 'axons' | 'devboxes' | 'scenario_runs') => {
    const find = database.prepare(`SELECT account FROM ${table} WHERE id = ?`)
    return (id: string) => find.get(id)?.account as string | undefined
  }
  const [ofAxon, ofDevbox, ofRun] = [accountIn('axons'), accountIn('devboxes'), accountIn('scenario_runs')]
  const ofDatabase = (name: string) => (/\.db(-wal)?$/.test(name) ? ofAxon(name.replace(/\..*$/, '')) : undefined)
  const folders = [
    { folder: 'axons', kind: 'axons', accountOf: ofDatabase, below: '' },
    { folder: 'devboxes', kind: 'outputs', accountOf: ofDevbox, below: 'executions' },
    { folder: 'runs', kind: 'run logs', accountOf: ofRun, below: '' },
  ] as const
  for (const { folder, kind, accountOf, below } of folders)
    for (const name of (await readdir(join(dataDir, folder)).catch(ifMissing)) ?? []) {
      if (signal.aborted) return
      const account = accountOf(name)
      if (account !== undefined) quota.add(account, kind, await bytesBelow(join(dataDir, folder, name, below), startMs))
    }
}

export const bytesBelow = async (path: string, beforeMs = Number.POSITIVE_INFINITY): Promise<number> => {
  const found = await stat(path).catch(ifMissing)
  if (!found) return 0
  if (!found.isDirectory()) return found.birthtimeMs < beforeMs ? found.size : 0
  let bytes = 0
  for (const entry of (await readdir(path, { recursive: true, withFileTypes: true }).catch(ifMissing)) ?? []) {
    if (!entry.isFile()) continue
    const file = await stat(join(entry.parentPath, entry.name)).catch(ifMissing)
    if (file && file.birthtimeMs < beforeMs) bytes += file.size
  }
  return bytes
}
