import * as z from 'zod/mini'
import { ById, Empty, EpochMs, pageEnvelope, pageQuery, StringMap } from './common.ts'
import { defineEndpoint, json } from './endpoint.ts'
import { MetadataFilter } from './query-string.ts'

export const axonIdPattern = /^axn_[A-Za-z0-9_-]{1,128}$/

/** Active while `deleted_at_ms` is null. */
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

/** Longest `search` the service reads; longer text cannot be part of an id or a sensible name. */
export const maxSearchLength = 256

export const AxonListQuery = z.object({
  /** Prefix of the name, case-sensitive. */
  name: z.optional(z.string()),
  id: z.optional(z.string().check(z.regex(axonIdPattern, 'is not an axon id (axn_…)'))),
  /** Part of the id or of the name. Unspecified: whether case counts; it does not. */
  search: z.optional(z.string().check(z.maxLength(maxSearchLength))),
  metadata: z.optional(MetadataFilter),
  ...pageQuery,
})
export type AxonListQuery = z.output<typeof AxonListQuery>

export const AxonCreate = z.object({ name: z.nullish(z.string()), metadata: z.nullish(StringMap) })
export type AxonCreate = z.infer<typeof AxonCreate>

export const axons = {
  list: defineEndpoint({
    id: 'axons.list',
    method: 'GET',
    path: '/v1/axons',
    query: AxonListQuery,
    response: json(AxonList),
    stability: 'beta',
    summary: 'List axons, newest first, deleted ones included',
  }),
  create: defineEndpoint({
    id: 'axons.create',
    method: 'POST',
    path: '/v1/axons',
    body: AxonCreate,
    response: json(Axon),
    stability: 'beta',
    summary: 'Create an axon',
  }),
  get: defineEndpoint({
    id: 'axons.get',
    method: 'GET',
    path: '/v1/axons/:id',
    params: ById,
    response: json(Axon),
    stability: 'beta',
    summary: 'Get an axon',
  }),
  delete: defineEndpoint({
    id: 'axons.delete',
    method: 'DELETE',
    path: '/v1/axons/:id',
    params: ById,
    response: json(Empty),
    stability: 'beta',
    summary: 'Delete an axon; its record stays and carries the time',
  }),
}
