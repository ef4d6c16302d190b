import * as z from 'zod/mini'
import { EpochMs } from './common.ts'
import { defineEndpoints, json, post } from './endpoint.ts'

export const resourceTypes = [
  'RESOURCE_TYPE_DEVBOXES',
  'RESOURCE_TYPE_BLUEPRINTS',
  'RESOURCE_TYPE_SNAPSHOTS',
  'RESOURCE_TYPE_BENCHMARKS',
  'RESOURCE_TYPE_SCENARIOS',
  'RESOURCE_TYPE_AGENTS',
  'RESOURCE_TYPE_OBJECTS',
  'RESOURCE_TYPE_ACCOUNT',
] as const
export type ResourceType = (typeof resourceTypes)[number]

/** Each level includes the ones before it. */
export const accessLevels = ['ACCESS_LEVEL_NONE', 'ACCESS_LEVEL_READ', 'ACCESS_LEVEL_WRITE'] as const

export const KeyScope = z.object({
  resource_type: z.enum(resourceTypes, `must be one of ${resourceTypes.join(', ')}`),
  access_level: z.enum(accessLevels, `must be one of ${accessLevels.join(', ')}`),
})
export type KeyScope = z.infer<typeof KeyScope>

const ApiKey = z.object({
  id: z.string(),
  key_secret: z.string(),
  name: z.optional(z.string()),
  expires_at_ms: z.nullish(EpochMs),
})

const ApiKeyCreate = z.object({
  name: z.nullish(z.string().check(z.regex(/^[^\p{C}]{0,100}$/u, 'must be at most 100 printable characters'))),
  expires_at_ms: z.nullish(EpochMs),
})

export const keys = defineEndpoints('keys', 'stable', {
  create: post('/v1/apikeys', json(ApiKey), { body: ApiKeyCreate, returnsCredential: true }),
  createRestricted: post('/v1/restricted_keys', json(z.extend(ApiKey, { scopes: z.array(KeyScope) })), {
    body: z.extend(ApiKeyCreate, { scopes: z.nullish(z.array(KeyScope)) }),
    returnsCredential: true,
  }),
})
