import * as z from 'zod/mini'
import { searchOf } from '#lib/browser/address/search.ts'
import { type Axon, AxonListQuery } from '#lib/contract/axons.ts'
import { queryInt } from '#lib/contract/common.ts'
import { maxPageSize } from '#lib/contract/page-sizes.ts'

/** The API's query plus filters and sorting the API lacks, which apply to loaded rows. */
export const AxonSearchParams = z.extend(AxonListQuery, {
  /** Rows per call. By default the page decides. */
  limit: z.optional(queryInt(1, maxPageSize)),
  state: z.optional(z.enum(['active', 'deleted'], 'must be active or deleted')),
  /** `from..before` in UTC, open at one end or none: `2026-11-01..2026-11-02T1030`. */
  created: z.optional(
    z.string().check(z.refine((text) => readRange(text) !== null, 'must be a range like 2026-11-01..2026-11-30')),
  ),
  /** A column ID, with a leading `-` for descending order. By default the newest come first. */
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type AxonSearchParams = z.output<typeof AxonSearchParams>

export const axonQueryOf = ({ name, id, search, metadata, starting_after, include_total_count }: AxonSearchParams) => ({
  ...(name ? { name } : {}),
  ...(id ? { id } : {}),
  ...(search ? { search } : {}),
  ...(metadata?.length ? { metadata } : {}),
  ...(starting_after ? { starting_after } : {}),
  include_total_count,
})

/** One order of parameters, so that equal lists have equal addresses. */
const order = [
  'name',
  'id',
  'search',
  'metadata',
  'starting_after',
  'limit',
  'include_total_count',
  'state',
  'created',
  'sort',
  'columns',
] as const satisfies (keyof AxonSearchParams)[]

export const axonsPath = (params: Partial<AxonSearchParams>): string =>
  `/axons${searchOf(Object.fromEntries(order.map((name) => [name, params[name]])), { include_total_count: true })}`

export interface TimeRange {
  fromMs?: number
  /** Exclusive. */
  beforeMs?: number
}

const timePattern = /^(\d{4}-\d\d-\d\d)(?:T(\d\d)(\d\d))?$/

const readTime = (text: string): number | undefined | null => {
  if (text === '') return undefined
  const [, day, hour = '00', minute = '00'] = timePattern.exec(text) ?? []
  const ms = Date.parse(`${day}T${hour}:${minute}:00Z`)
  return Number.isNaN(ms) ? null : ms
}

/** Null if the text is not a range. */
export const readRange = (text: string): TimeRange | null => {
  const [from = '', before = '', ...more] = text.split('..')
  const [fromMs, beforeMs] = [readTime(from), readTime(before)]
  if (fromMs === null || beforeMs === null || more.length > 0 || !text.includes('..')) return null
  return fromMs === undefined && beforeMs === undefined ? null : { fromMs, beforeMs }
}

/** To the minute. Undefined if the range is open at both ends. */
export const writeRange = ({ fromMs, beforeMs }: TimeRange): string | undefined => {
  if (fromMs === undefined && beforeMs === undefined) return undefined
  return `${writeTime(fromMs)}..${writeTime(beforeMs)}`
}

const writeTime = (ms: number | undefined): string => {
  if (ms === undefined) return ''
  const [day = '', time = ''] = new Date(ms).toISOString().split('T')
  const minutes = time.slice(0, 5).replace(':', '')
  return minutes === '0000' ? day : `${day}T${minutes}`
}

/** Applies the filters that the API lacks. */
export const axonFilter = ({
  state,
  created,
}: Pick<AxonSearchParams, 'state' | 'created'>): ((axon: Axon) => boolean) => {
  const { fromMs = Number.NEGATIVE_INFINITY, beforeMs = Number.POSITIVE_INFINITY } =
    (created && readRange(created)) || {}
  return ({ deleted_at_ms, created_at_ms }) =>
    (state === undefined || (state === 'deleted') === (deleted_at_ms != null)) &&
    (created === undefined || (created_at_ms >= fromMs && created_at_ms < beforeMs))
}
