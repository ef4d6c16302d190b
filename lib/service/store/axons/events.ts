import type { AxonEvent, AxonEventList, AxonEventListQuery } from '#lib/contract/axons.ts'
import type { Database } from '../database.ts'

export type NewEvent = Pick<AxonEvent, 'timestamp_ms' | 'origin' | 'source' | 'event_type' | 'payload'>

interface EventRow extends NewEvent {
  sequence: number
}

export type AxonEventStore = ReturnType<typeof createAxonEventStore>

/** The log of each axon: sequences 1, 2, 3 …; nothing in it ever changes. */
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
  const gapOf = database.prepare('SELECT last, missing FROM axon_gaps WHERE axon = ?')

  const last = (seq: number) => (lastOf.get(seq) as { last: number }).last
  /** The last sequence in use, and how many up to it stand for no event. */
  const endOf = (seq: number): { last: number; missing: number } => {
    const gap = gapOf.get(seq) as { last: number; missing: number } | undefined
    return gap ? { ...gap, last: Math.max(gap.last, last(seq)) } : { last: last(seq), missing: 0 }
  }

  /** At least one row if there is one, then as many as are not too large together. */
  const some = (rows: Iterable<unknown>, maxBytes: number): EventRow[] => {
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
    /** Under which number the axon's events are kept; undefined when there is no such axon. */
    find: (account: string, id: string): { seq: number; isDeleted: boolean } | undefined => {
      const row = axon.get(id, account) as { seq: number; deleted_at_ms: number | null } | undefined
      return row && { seq: row.seq, isDeleted: row.deleted_at_ms !== null }
    },

    /** The sequence of the last event, or 0. */
    last,

    /** Appends within the caller's transaction and returns the sequence. */
    append: (seq: number, { timestamp_ms, origin, source, event_type, payload }: NewEvent): number => {
      const sequence = endOf(seq).last + 1
      insert.run(seq, sequence, timestamp_ms, origin, source, event_type, payload)
      return sequence
    },

    /** In their order, those after `sequence`: so many, or fewer when they are large. */
    after: (seq: number, id: string, sequence: number, limit: number, maxBytes: number): AxonEvent[] =>
      some(after.iterate(seq, sequence, limit), maxBytes).map((row) => ({ axon_id: id, ...row })),

    /**
     * Newest first. Unspecified: a page of large events; it ends early, and says that there are more. A cursor that is no
     * event's sequence is as good: it stands for its place.
     */
    list: (seq: number, id: string, query: AxonEventListQuery): AxonEventList => {
      const from = query.starting_after ?? Number.MAX_SAFE_INTEGER
      const rows = some(before.iterate(seq, from, query.limit), maxPageBytes)
      const oldest = rows.at(-1)
      const end = endOf(seq)
      return {
        events: rows.map((row) => ({ axon_id: id, ...row })),
        has_more: oldest !== undefined && before.get(seq, oldest.sequence, 1) !== undefined,
        total_count: query.include_total_count ? end.last - end.missing : null,
      }
    },
  }
}

const maxPageBytes = 16 * 1024 * 1024
