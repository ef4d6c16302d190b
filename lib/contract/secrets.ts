import * as z from 'zod/mini'
import { EpochMs, openEnum, pageEnvelope, pageQuery } from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'

/** Unspecified: the allowed characters. A devbox maps its own variable names to secrets, so `-` and digits can come first. */
export const SecretName = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_-]{1,256}$/, 'must be 1 to 256 letters, digits, _ or -'))
/** Unspecified: longest value. Linux limits an environment string to 128 KiB. */
export const maxSecretBytes = 64 * 1024
export const SecretValue = z.string().check(
  z.refine(
    (value) => new TextEncoder().encode(value).length <= maxSecretBytes,
    `must be at most ${maxSecretBytes} bytes`,
  ),
  z.regex(/^[^\0]*$/, 'must not contain a NUL character'),
)
const ByName = z.object({ name: SecretName })

export const Secret = z.object({ id: z.string(), name: z.string(), create_time_ms: EpochMs, update_time_ms: EpochMs })
export type Secret = z.infer<typeof Secret>

export const secretUserTypes = ['devbox', 'blueprint', 'benchmark_job', 'gateway_config', 'mcp_config'] as const

/** A record that refers to a secret. `variables` are the environment variables or headers that are set from it. */
const SecretUser = z.object({
  type: openEnum(secretUserTypes),
  id: z.string(),
  name: z.nullish(z.string()),
  variables: z.array(z.string()),
})
export type SecretUser = z.infer<typeof SecretUser>

export const SecretUsage = z.object({ users: z.array(SecretUser), has_more: z.boolean() })
export type SecretUsage = z.infer<typeof SecretUsage>

export const secrets = defineEndpoints('secrets', 'stable', {
  list: get('/v1/secrets', json(z.object({ secrets: z.array(Secret), ...pageEnvelope })), {
    query: z.object({ limit: pageQuery.limit }),
  }),
  create: post('/v1/secrets', json(Secret), { body: z.object({ name: SecretName, value: SecretValue }) }),
  get: get('/v1/secrets/:name', json(Secret), { params: ByName }),
  update: post('/v1/secrets/:name', json(Secret), { params: ByName, body: z.object({ value: SecretValue }) }),
  /** Extension: devboxes and jobs that have not ended, blueprints and configs that refer to the secret, newest first by type. */
  usage: get('/v1/secrets/:name/usage', json(SecretUsage), { params: ByName }),
  delete: post('/v1/secrets/:name/delete', json(Secret), { params: ByName }),
})
