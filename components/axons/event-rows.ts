import type { AxonEvent } from '#lib/contract/axons.ts'

export interface Gap {
  from: number
  to: number
}

export type LogRow = { kind: 'event'; event: AxonEvent } | { kind: 'gap'; gap: Gap }

/** Merges two lists, both oldest first, without duplicates. */
export const mergeEvents = (one: readonly AxonEvent[], other: readonly AxonEvent[]): AxonEvent[] => {
  const last = one.at(-1)
  const first = other[0]
  // The common case: live events follow the loaded ones.
  if (!last || !first || last.sequence < first.sequence) return [...one, ...other]
  const bySequence = new Map([...one, ...other].map((event) => [event.sequence, event]))
  return [...bySequence.values()].sort((a, b) => a.sequence - b.sequence)
}

/** Oldest first. Ignores events before the oldest one, which just aren't loaded. */
export const gapsIn = (events: readonly AxonEvent[]): Gap[] =>
  events.flatMap((event, at) => {
    const before = events[at - 1]
    return before && event.sequence > before.sequence + 1 ? [{ from: before.sequence + 1, to: event.sequence - 1 }] : []
  })

export interface EventFilter {
  origin: string
  /** Substrings; only ASCII letters match case-insensitively, as in SQLite. */
  type: string
  source: string
  payload: string
}

export const noEventFilter: EventFilter = { origin: '', type: '', source: '', payload: '' }

export const isFiltering = (filter: EventFilter): boolean => Object.values(filter).join('') !== ''

export const eventMatcher = ({ origin, type, source, payload }: EventFilter) => {
  const [typePart, sourcePart, payloadPart] = [lower(type), lower(source), lower(payload)]
  return (event: AxonEvent): boolean =>
    (origin === '' || event.origin === origin) &&
    lower(event.event_type).includes(typePart) &&
    lower(event.source).includes(sourcePart) &&
    (payloadPart === '' || lower(event.payload).includes(payloadPart))
}

const lower = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Matching events and all gaps, since missing events might match. */
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

export const readPayload = (payload: string): Payload => {
  try {
    return { kind: 'json', value: JSON.parse(payload, keepNumber) }
  } catch {
    return { kind: 'text', text: payload }
  }
}

interface ExactJson {
  rawJSON?: (text: string) => unknown
}

/** Keeps the source text of numbers that JavaScript can't represent (2^63, 1.10), where the browser supports it. */
const keepNumber = (_key: string, value: unknown, context?: { source?: string }): unknown => {
  const { rawJSON } = JSON as ExactJson
  const source = context?.source
  return typeof value === 'number' && source !== undefined && rawJSON && String(value) !== source
    ? rawJSON(source)
    : value
}

export const toLines = (events: readonly AxonEvent[]): string =>
  events.map((event) => `${JSON.stringify(event)}\n`).join('')
