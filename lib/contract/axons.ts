import * as z from 'zod/mini'
import {
  ById,
  Empty,
  EpochMs,
  Metadata,
  metadataOperations,
  openEnum,
  pageEnvelope,
  pageQuery,
  queryInt,
  StringMap,
} from './common.ts'
import { defineEndpoints, del, events, get, json, post } from './endpoint.ts'
import { MetadataFilter } from './query-string.ts'

export const axonIdPattern = /^axn_[A-Za-z0-9_-]{1,128}$/

export const Axon = z.object({
  id: z.string(),
  name: z.nullish(z.string()),
  created_at_ms: EpochMs,
  deleted_at_ms: z.nullish(EpochMs),
  metadata: StringMap,
})
export type Axon = z.infer<typeof Axon>

export const AxonList = z.object({ axons: z.array(Axon), ...pageEnvelope })
export type AxonList = z.infer<typeof AxonList>

export const maxSearchLength = 256

export const AxonListQuery = z.object({
  name: z.optional(z.string()),
  id: z.optional(z.string().check(z.regex(axonIdPattern, 'is not an axon ID (axn_…)'))),
  /** Substring of the id or name. Unspecified: case-insensitive. */
  search: z.optional(z.string().check(z.maxLength(maxSearchLength))),
  metadata: z.optional(MetadataFilter),
  ...pageQuery,
})
export type AxonListQuery = z.output<typeof AxonListQuery>

export const AxonCreate = z.object({ name: z.nullish(z.string()), metadata: z.nullish(Metadata) })
export type AxonCreate = z.infer<typeof AxonCreate>

/** Replaces all metadata. Missing or null is unchanged; `{}` clears. */
export const AxonUpdate = z.object({ metadata: z.nullish(Metadata) })

/** Origins that publishers may use. Only the service publishes SYSTEM_EVENT. */
export const publishedOrigins = ['EXTERNAL_EVENT', 'AGENT_EVENT', 'USER_EVENT'] as const
export const eventOrigins = [...publishedOrigins, 'SYSTEM_EVENT'] as const

/** Unspecified: longest payload in bytes of UTF-8. */
export const maxPayloadBytes = 512 * 1024
const shortText = z
  .string()
  .check(z.minLength(1, 'must not be empty'), z.maxLength(256, 'must be at most 256 characters'))

export const AxonPublish = z.object({
  event_type: shortText,
  origin: z.enum(publishedOrigins, `must be one of ${publishedOrigins.join(', ')}`),
  payload: z
    .string()
    .check(
      z.refine(
        (text) => new TextEncoder().encode(text).length <= maxPayloadBytes,
        `must be at most ${maxPayloadBytes} bytes`,
      ),
    ),
  source: shortText,
})
export type AxonPublish = z.infer<typeof AxonPublish>

export const AxonEvent = z.object({
  axon_id: z.string(),
  sequence: z.int(),
  timestamp_ms: EpochMs,
  origin: openEnum(eventOrigins),
  source: z.string(),
  event_type: z.string(),
  payload: z.string(),
})
export type AxonEvent = z.infer<typeof AxonEvent>

const maxSequence = Number.MAX_SAFE_INTEGER
export const AxonEventListQuery = z.object({
  limit: pageQuery.limit,
  starting_after: z.optional(queryInt(0, maxSequence)),
  include_total_count: pageQuery.include_total_count,
})
export type AxonEventListQuery = z.output<typeof AxonEventListQuery>
export const AxonEventList = z.object({ events: z.array(AxonEvent), ...pageEnvelope })
export type AxonEventList = z.infer<typeof AxonEventList>

const sqlText = z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(100_000))
export const SqlStatement = z.object({ sql: sqlText, params: z.nullish(z.array(z.unknown())) })
export type SqlStatement = z.infer<typeof SqlStatement>

export const isReadOnlySql = (sql: string): boolean => /^\s*(select|values|explain)\b/i.test(sql) && !/;\s*\S/.test(sql)

export const SqlResult = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(z.unknown()),
  meta: z.object({ changes: z.int(), duration_ms: z.number(), rows_read_limit_reached: z.boolean() }),
})
export type SqlResult = z.infer<typeof SqlResult>

export const SqlBatchResult = z.object({
  results: z.array(z.object({ success: z.nullish(SqlResult), error: z.nullish(z.object({ message: z.string() })) })),
})
export type SqlBatchResult = z.infer<typeof SqlBatchResult>

export const changeRefusal = ({ deleted_at_ms }: Pick<Axon, 'deleted_at_ms'>): string | null =>
  deleted_at_ms == null ? null : 'The axon is deleted'

export const axons = defineEndpoints('axons', 'beta', {
  list: get('/v1/axons', json(AxonList), { query: AxonListQuery }),
  create: post('/v1/axons', json(Axon), { body: AxonCreate }),
  ...metadataOperations('/v1/axons'),
  get: get('/v1/axons/:id', json(Axon), { params: ById }),
  update: post('/v1/axons/:id', json(Axon), { params: ById, body: AxonUpdate }),
  publish: post('/v1/axons/:id/publish', json(z.object({ sequence: z.int(), timestamp_ms: EpochMs })), {
    params: ById,
    body: AxonPublish,
  }),
  events: get('/v1/axons/:id/events', json(AxonEventList), { params: ById, query: AxonEventListQuery }),
  subscribe: get('/v1/axons/:id/subscribe/sse', events(AxonEvent), {
    params: ById,
    query: z.object({ after_sequence: z.optional(queryInt(-1, maxSequence)) }),
  }),
  query: post('/v1/axons/:id/sql/query', json(SqlResult), { params: ById, body: SqlStatement }),
  batch: post('/v1/axons/:id/sql/batch', json(SqlBatchResult), {
    params: ById,
    body: z.object({ statements: z.array(SqlStatement).check(z.minLength(1), z.maxLength(1000)) }),
  }),
  delete: del('/v1/axons/:id', json(Empty), { params: ById }),
})
