import { type InfiniteData, infiniteQueryOptions, type QueryKey } from '@tanstack/react-query'
import type { EventFilter } from '#lib/browser/live/event-log.ts'
import { EventTail } from '#lib/browser/live/event-tail.ts'
import { isFinal } from '#lib/client/api-error.ts'
import { type AxonEvent, axons, eventOrigins, type SqlResult } from '#lib/contract/axons.ts'
import { browserApi } from '../../api/browser-api.ts'
import { follow } from '../../live/follow.ts'

const pageApi = browserApi({ axons })
type Api = typeof pageApi

const pageRows = 500

/** The log of an axon, to be followed while it is on screen. Not in the query cache: nothing else reads it. */
export const axonEvents = (id: string): EventTail =>
  new EventTail({
    page: (before, signal) =>
      pageApi.axons.events({
        params: { id },
        query: { starting_after: before, limit: pageRows, include_total_count: false },
        signal,
      }),
    follow: (options) => follow({ endpoint: 'axons.subscribe', params: { id } }, options),
    hasEnded: async (signal) => (await pageApi.axons.get({ params: { id }, signal })).deleted_at_ms != null,
    isFinal,
  })

interface Matches {
  /** Newest first. */
  events: AxonEvent[]
  hasMore: boolean
  /** Of the first page: how many matched in the whole log, and the last sequence the log had then. */
  counted?: { matching: number; last: number }
}

/**
 * The events of the whole log that a filter shows, found in the database of the axon: its list of events knows no
 * filter. Later events come with the log that is followed.
 */
export const matchingEvents = (id: string, filter: EventFilter, api: Api = pageApi) =>
  infiniteQueryOptions<Matches, Error, InfiniteData<Matches, number>, QueryKey, number>({
    queryKey: ['axons', 'matching', id, filter],
    queryFn: async ({ pageParam: before, signal }) => {
      const { where, params } = conditionOf(filter)
      const statements = [
        {
          sql: `SELECT sequence, timestamp_ms, origin, source, event_type, payload FROM rl_axon_events
                WHERE ${where} AND sequence < ? ORDER BY sequence DESC LIMIT ${pageRows}`,
          params: [...params, before],
        },
        {
          sql: `SELECT count(*), (SELECT coalesce(max(sequence), -1) FROM rl_axon_events) FROM rl_axon_events WHERE ${where}`,
          params,
        },
      ].slice(0, before === fromNewest ? 2 : 1)
      const { results } = await api.axons.batch({ params: { id }, body: { statements }, signal })
      const refusal = results.find(({ error }) => error)?.error
      if (refusal) throw new Error(refusal.message)
      const [page, count] = results.map(({ success }) => success)
      const rows = page?.rows ?? []
      const [matching, last] = (count?.rows[0] ?? []) as number[]
      return {
        events: rows.map((row) => eventOfRow(id, row)),
        hasMore: rows.length === pageRows || isCut(page),
        ...(matching !== undefined && last !== undefined && { counted: { matching, last } }),
      }
    },
    initialPageParam: fromNewest,
    getNextPageParam: ({ hasMore, events }) => (hasMore ? events.at(-1)?.sequence : undefined),
    // An event never changes, and the newer ones come by themselves.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })

const fromNewest = Number.MAX_SAFE_INTEGER

const isCut = (result: SqlResult | null | undefined) => result?.meta.rows_read_limit_reached === true

const conditionOf = ({ origin, ...parts }: EventFilter): { where: string; params: (string | number)[] } => {
  const columns = { type: 'event_type', source: 'source', payload: 'payload' } as const
  const named = Object.entries(columns).flatMap(([part, column]) => {
    const text = parts[part as keyof typeof columns]
    return text === '' ? [] : [{ sql: `instr(lower(${column}), lower(?)) > 0`, text }]
  })
  // A database may hold the origin as a word or as its place among them, from 1.
  const place = (eventOrigins as readonly string[]).indexOf(origin) + 1
  return {
    where: ['1', ...(origin === '' ? [] : ['origin IN (?, ?)']), ...named.map(({ sql }) => sql)].join(' AND '),
    params: [...(origin === '' ? [] : [origin, place]), ...named.map(({ text }) => text)],
  }
}

const eventOfRow = (axon_id: string, row: unknown): AxonEvent => {
  const [sequence, timestamp_ms, origin, source, event_type, payload] = row as [
    number,
    number,
    string | number,
    string,
    string,
    string,
  ]
  const word = typeof origin === 'number' ? (eventOrigins[origin - 1] ?? String(origin)) : origin
  return { axon_id, sequence, timestamp_ms, origin: word as AxonEvent['origin'], source, event_type, payload }
}
