import * as z from 'zod/mini'
import {
  ById,
  Empty,
  EpochMs,
  Id,
  Metadata,
  metadataOperations,
  openEnum,
  pageEnvelope,
  queryInt,
  StringMap,
} from './common.ts'
import { bytes, defineEndpoints, get, json, post, put } from './endpoint.ts'
import { listQuery } from './query-string.ts'

export const objectContentTypes = ['unspecified', 'text', 'binary', 'gzip', 'tar', 'tgz'] as const
export type ObjectContentType = (typeof objectContentTypes)[number]
export const objectStates = ['UPLOADING', 'READ_ONLY', 'DELETED', 'ERROR'] as const
export type ObjectState = (typeof objectStates)[number]

export const StoredObject = z.object({
  id: z.string(),
  name: z.string(),
  content_type: openEnum(objectContentTypes),
  state: openEnum(objectStates),
  create_time_ms: EpochMs,
  delete_after_time_ms: z.nullish(EpochMs),
  metadata: z.nullish(StringMap),
  /** Null until uploaded. */
  size_bytes: z.nullish(z.int()),
  /** Set only in the response that creates the object. */
  upload_url: z.nullish(z.string()),
})
export type StoredObject = z.infer<typeof StoredObject>

export const ObjectCreate = z.object({
  name: z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(1024)),
  content_type: z.enum(objectContentTypes, `must be one of ${objectContentTypes.join(', ')}`),
  metadata: z.nullish(Metadata),
  ttl_ms: z.nullish(z.int().check(z.minimum(1))),
})
export type ObjectCreate = z.infer<typeof ObjectCreate>

export const ObjectListQuery = z.object({
  content_type: z.optional(z.enum(objectContentTypes)),
  state: z.optional(z.enum(objectStates)),
  ...listQuery,
})
export type ObjectListQuery = z.output<typeof ObjectListQuery>
const ObjectList = z.object({ objects: z.array(StoredObject), ...pageEnvelope })

/** Unspecified: longest validity of a download link. */
const maxDownloadSeconds = 7 * 24 * 60 * 60

/** A link is valid without an API key until it expires. */
const Link = z.object({ expires: queryInt(0, Number.MAX_SAFE_INTEGER), signature: Id })

export const objects = defineEndpoints('objects', 'stable', {
  list: get('/v1/objects', json(ObjectList), { query: ObjectListQuery }),
  listPublic: get('/v1/objects/list_public', json(ObjectList), { query: ObjectListQuery }),
  ...metadataOperations('/v1/objects'),
  create: post('/v1/objects', json(StoredObject), { body: ObjectCreate, returnsCredential: true }),
  get: get('/v1/objects/:id', json(StoredObject), { params: ById }),
  complete: post('/v1/objects/:id/complete', json(StoredObject), { params: ById }),
  download: get('/v1/objects/:id/download', json(z.object({ download_url: z.string() })), {
    params: ById,
    query: z.object({ duration_seconds: z._default(queryInt(1, maxDownloadSeconds), 3600) }),
    returnsCredential: true,
  }),
  delete: post('/v1/objects/:id/delete', json(StoredObject), { params: ById }),
  putContent: put('/objects/:id/content', json(Empty), {
    params: ById,
    query: Link,
    bodyFormat: 'binary',
    scope: 'local',
  }),
  getContent: get('/objects/:id/content', bytes('application/octet-stream'), {
    params: ById,
    query: Link,
    scope: 'local',
  }),
})
