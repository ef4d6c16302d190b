import { type InfiniteData, infiniteQueryOptions, type QueryKey } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { follow } from '#lib/browser/live/follow.ts'
import { isFinal } from '#lib/client/api-error.ts'
import { type AxonEvent, axons, eventOrigins, type SqlResult } from '#lib/contract/axons.ts'
import type { EventFilter } from './event-rows.ts'
import { EventTail } from './event-tail.ts'

const pageApi = browserApi({ axons })
type Api = typeof pageApi

const pageRows = 500

/** The live event log of an axon. Kept outside the query cache because nothing else reads it. */
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
  /** First page only: total matches, and the last sequence of the log at that time. */
  counted?: { matching: number; last: number }
}

/** Searches the whole log through SQL, because the events endpoint has no filters. New events arrive with the live log. */
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
      const failed = results.find(({ error }) => error)?.error
      if (failed) throw new Error(failed.message)
      const [page, count] = results.map(({ success }) => success)
      const rows = page?.rows ?? []
      const [matching, last] = (count?.rows[0] ?? []) as number[]
      return {
        events: rows.map((row) => eventOfRow(id, row)),
        hasMore: rows.length === pageRows || reachedRowLimit(page),
        ...(matching !== undefined && last !== undefined && { counted: { matching, last } }),
      }
    },
    initialPageParam: fromNewest,
    getNextPageParam: ({ hasMore, events }) => (hasMore ? events.at(-1)?.sequence : undefined),
    // Events never change, and new ones arrive with the live log.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })

const fromNewest = Number.MAX_SAFE_INTEGER

const reachedRowLimit = (result: SqlResult | null | undefined) => result?.meta.rows_read_limit_reached === true

const conditionOf = ({ origin, ...parts }: EventFilter): { where: string; params: (string | number)[] } => {
  const columns = { type: 'event_type', source: 'source', payload: 'payload' } as const
  const named = Object.entries(columns).flatMap(([part, column]) => {
    const text = parts[part as keyof typeof columns]
    return text === '' ? [] : [{ sql: `instr(lower(${column}), lower(?)) > 0`, text }]
  })
  // Databases store the origin as a string or as its 1-based index.
  const index = (eventOrigins as readonly string[]).indexOf(origin) + 1
  return {
    where: ['1', ...(origin === '' ? [] : ['origin IN (?, ?)']), ...named.map(({ sql }) => sql)].join(' AND '),
    params: [...(origin === '' ? [] : [origin, index]), ...named.map(({ text }) => text)],
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
