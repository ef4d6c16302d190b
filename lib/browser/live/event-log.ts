import type { AxonEvent } from '#lib/contract/axons.ts'

/** Pure parts of an axon's log on screen: in order, without doubles, and honest about what is missing. */

/** Sequences that lie between two loaded events and are not there; the log counts without a gap. */
export interface Gap {
  from: number
  to: number
}

export type LogRow = { kind: 'event'; event: AxonEvent } | { kind: 'gap'; gap: Gap }

/** Both oldest first; an event that is in both is taken once. */
export const mergeEvents = (one: readonly AxonEvent[], other: readonly AxonEvent[]): AxonEvent[] => {
  const last = one.at(-1)
  const first = other[0]
  // The common case: what follows live comes after all there is.
  if (!last || !first || last.sequence < first.sequence) return [...one, ...other]
  const bySequence = new Map([...one, ...other].map((event) => [event.sequence, event]))
  return [...bySequence.values()].sort((a, b) => a.sequence - b.sequence)
}

/** The missing sequences between events, oldest first. What lies before the oldest is not missing but not loaded. */
export const gapsIn = (events: readonly AxonEvent[]): Gap[] =>
  events.flatMap((event, at) => {
    const before = events[at - 1]
    return before && event.sequence > before.sequence + 1 ? [{ from: before.sequence + 1, to: event.sequence - 1 }] : []
  })

export interface EventFilter {
  origin: string
  /** Parts of the type, the source and the payload; ASCII letters in any case, as the databases of axons compare. */
  type: string
  source: string
  payload: string
}

export const noEventFilter: EventFilter = { origin: '', type: '', source: '', payload: '' }

export const isFiltering = (filter: EventFilter): boolean => Object.values(filter).join('') !== ''

export const eventMatcher = ({ origin, type, source, payload }: EventFilter) => {
  const [wantedType, wantedSource, wantedPayload] = [lower(type), lower(source), lower(payload)]
  return (event: AxonEvent): boolean =>
    (origin === '' || event.origin === origin) &&
    lower(event.event_type).includes(wantedType) &&
    lower(event.source).includes(wantedSource) &&
    (wantedPayload === '' || lower(event.payload).includes(wantedPayload))
}

const lower = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** The events a filter shows, each gap where it lies: what is missing might have matched. */
export const logRows = (events: readonly AxonEvent[], filter: EventFilter): LogRow[] => {
  const matches = eventMatcher(filter)
  const rows: LogRow[] = []
  let before: number | undefined
  for (const event of events) {
    if (before !== undefined && event.sequence > before + 1)
      rows.push({ kind: 'gap', gap: { from: before + 1, to: event.sequence - 1 } })
    if (matches(event)) rows.push({ kind: 'event', event })
    before = event.sequence
  }
  return rows
}

/** How many of the shown events came after the sequence that was the last when following stopped. */
export const newSince = (seen: number, rows: readonly LogRow[]): number => {
  let count = 0
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at]
    if (row?.kind !== 'event') continue
    if (row.event.sequence <= seen) break
    count += 1
  }
  return count
}

export type Payload = { kind: 'json'; value: unknown } | { kind: 'text'; text: string }

/** A payload is text, by habit JSON. */
export const readPayload = (payload: string): Payload => {
  try {
    return { kind: 'json', value: JSON.parse(payload, keepNumber) }
  } catch {
    // It is no JSON, and shown as it is.
    return { kind: 'text', text: payload }
  }
}

interface ExactJson {
  rawJSON?: (text: string) => unknown
}

/** A number JavaScript cannot hold (2^63, 1.10) is written again as it was, where the browser can. */
const keepNumber = (_key: string, value: unknown, context?: { source?: string }): unknown => {
  const { rawJSON } = JSON as ExactJson
  const source = context?.source
  return typeof value === 'number' && source !== undefined && rawJSON && String(value) !== source
    ? rawJSON(source)
    : value
}

/** One event per line, as the service told them. */
export const toLines = (events: readonly AxonEvent[]): string =>
  events.map((event) => `${JSON.stringify(event)}\n`).join('')
