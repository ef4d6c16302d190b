import * as z from 'zod/mini'
import { type Axon, AxonListQuery } from '#lib/contract/axons.ts'
import { maxPageSize, queryInt } from '#lib/contract/common.ts'
import { axonColumns } from './columns/axon-columns.ts'
import { readColumnId, readColumns, writeColumnId } from './columns/column-text.ts'
import { metadataKeyOf } from './list-columns.ts'
import { searchOf } from './search.ts'

/**
 * What the address of the axon list says: the query of the API, and beside it how the page shows the answer. The latter
 * covers the rows that are loaded, as the API has no such filters.
 */
export const AxonView = z.extend(AxonListQuery, {
  /** Rows of each call. Absent: as many as suit the page. */
  limit: z.optional(queryInt(1, maxPageSize)),
  state: z.optional(z.enum(['active', 'deleted'], 'must be active or deleted')),
  /** `from..before` in UTC, either end open: `2026-11-01..2026-11-02T1030`. */
  created: z.optional(
    z.string().check(z.refine((text) => readRange(text) !== null, 'must read 2026-11-01..2026-11-30')),
  ),
  /** A column, after a `-` in descending order. Absent: as the service orders, newest first. */
  sort: z.optional(z.string().check(z.refine((text) => readSort(text) !== null, 'must name a column'))),
  /** The columns in their order, with their widths: `name:320,state,metadata.env`. */
  columns: z.optional(
    z.string().check(z.refine((text) => readColumns(text, axonColumns) !== null, 'must name columns')),
  ),
})
export type AxonView = z.output<typeof AxonView>

/** The part of a view that the service answers. */
export const apiQueryOf = ({ name, id, search, metadata, starting_after, include_total_count }: AxonView) => ({
  ...(name ? { name } : {}),
  ...(id ? { id } : {}),
  ...(search ? { search } : {}),
  ...(metadata?.length ? { metadata } : {}),
  ...(starting_after ? { starting_after } : {}),
  include_total_count,
})
export type AxonFilter = ReturnType<typeof apiQueryOf>

/** One spelling for one view, however it came about. */
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
] as const satisfies (keyof AxonView)[]

export const axonViewPath = (view: Partial<AxonView>): string =>
  `/axons${searchOf(Object.fromEntries(order.map((name) => [name, view[name]])), { include_total_count: true })}`

// ---- created

export interface TimeRange {
  fromMs?: number
  beforeMs?: number
}

const timePattern = /^(\d{4}-\d\d-\d\d)(?:T(\d\d)(\d\d))?$/

const readTime = (text: string): number | undefined | null => {
  if (text === '') return undefined
  const [, day, hour = '00', minute = '00'] = timePattern.exec(text) ?? []
  const ms = Date.parse(`${day}T${hour}:${minute}:00Z`)
  return Number.isNaN(ms) ? null : ms
}

/** Null when the text is no range. */
export const readRange = (text: string): TimeRange | null => {
  const [from = '', before = '', ...more] = text.split('..')
  const [fromMs, beforeMs] = [readTime(from), readTime(before)]
  if (fromMs === null || beforeMs === null || more.length > 0 || !text.includes('..')) return null
  return fromMs === undefined && beforeMs === undefined ? null : { fromMs, beforeMs }
}

/** Undefined for a range that is open at both ends. Whole minutes, which is what people choose. */
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

// ---- sort

export type FixedColumn = keyof typeof axonColumns.labels
/** `metadata.env` shows the value that key has. */
export type ColumnId = FixedColumn | `metadata.${string}`

export interface Sort {
  column: ColumnId
  descending: boolean
}

export const readSort = (text: string): Sort | null => {
  const descending = text.startsWith('-')
  const column = readColumnId(descending ? text.slice(1) : text, axonColumns) as ColumnId | null
  return column && { column, descending }
}

export const writeSort = ({ column, descending }: Sort): string => `${descending ? '-' : ''}${writeColumnId(column)}`

/** What a click on a header does: ascending, descending, the service's order again. */
export const nextSort = (sort: Sort | null, column: ColumnId): Sort | null => {
  if (sort?.column !== column) return { column, descending: false }
  return sort.descending ? null : { column, descending: true }
}

/** What a column is of an axon, in the words of the interface; undefined where it has none. */
export const columnValue = (axon: Axon, id: ColumnId): unknown => {
  const key = metadataKeyOf(id)
  if (key !== undefined) return Object.hasOwn(axon.metadata, key) ? axon.metadata[key] : undefined
  switch (id as FixedColumn) {
    case 'name':
      return axon.name ?? undefined
    case 'id':
      return axon.id
    case 'state':
      return axon.deleted_at_ms == null ? 'active' : 'deleted'
    case 'metadata':
      return axon.metadata
    case 'created':
      return axon.created_at_ms
    case 'deleted':
      return axon.deleted_at_ms ?? undefined
  }
}
