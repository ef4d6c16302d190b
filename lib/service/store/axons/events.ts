import type { AxonEvent, AxonEventList, AxonEventListQuery } from '#lib/contract/axons.ts'
import type { Database } from '../database.ts'

type EventRow = Omit<AxonEvent, 'axon_id'>
export type NewEvent = Omit<EventRow, 'sequence'>

export type AxonEventStore = ReturnType<typeof createAxonEventStore>

export const createAxonEventStore = (database: Database) => {
  const axon = database.prepare('SELECT seq, deleted_at_ms FROM axons WHERE id = ? AND account = ?')
  const insert = database.prepare(
    'INSERT INTO axon_events (axon, sequence, timestamp_ms, origin, source, event_type, payload) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const columns = 'sequence, timestamp_ms, origin, source, event_type, payload'
  const after = database.prepare(
    `SELECT ${columns} FROM axon_events WHERE axon = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
  )
  const before = database.prepare(
    `SELECT ${columns} FROM axon_events WHERE axon = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?`,
  )

  const lastOf = database.prepare('SELECT coalesce(max(sequence), 0) AS last FROM axon_events WHERE axon = ?')
  const last = (seq: number) => Number(lastOf.get(seq)?.last)

  const firstRows = (rows: Iterable<unknown>, maxBytes: number): EventRow[] => {
    const taken: EventRow[] = []
    let bytes = 0
    for (const row of rows as Iterable<EventRow>) {
      bytes += row.payload.length
      if (taken.length > 0 && bytes > maxBytes) break
      taken.push(row)
    }
    return taken
  }

  return {
    find: (account: string, id: string): { seq: number; isDeleted: boolean } | undefined => {
      const row = axon.get(id, account) as { seq: number; deleted_at_ms: number | null } | undefined
      return row && { seq: row.seq, isDeleted: row.deleted_at_ms !== null }
    },

    last,

    append: (seq: number, { timestamp_ms, origin, source, event_type, payload }: NewEvent): number => {
      const sequence = last(seq) + 1
      insert.run(seq, sequence, timestamp_ms, origin, source, event_type, payload)
      return sequence
    },

    after: (seq: number, id: string, sequence: number, limit: number, maxBytes: number): AxonEvent[] =>
      firstRows(after.iterate(seq, sequence, limit), maxBytes).map((row) => ({ axon_id: id, ...row })),

    /** Unspecified: a page of large events ends early with has_more. */
    list: (seq: number, id: string, query: AxonEventListQuery): AxonEventList => {
      const from = query.starting_after ?? Number.MAX_SAFE_INTEGER
      const rows = firstRows(before.iterate(seq, from, query.limit), maxPageBytes)
      return {
        events: rows.map((row) => ({ axon_id: id, ...row })),
        has_more: before.get(seq, rows.at(-1)?.sequence ?? from, 1) !== undefined,
        total_count: query.include_total_count ? last(seq) : null,
      }
    },
  }
}

const maxPageBytes = 16 * 1024 * 1024
