import * as z from 'zod/mini'
import { EpochMs, idPattern, pageEnvelope, pageQuery } from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'

/** Unspecified: the allowed characters. A devbox maps its own variable names to secrets, so `-` and digits can come first. */
export const SecretName = z.string().check(z.regex(idPattern, 'must be 1 to 256 letters, digits, _ or -'))
/** Unspecified: longest value. Linux limits an environment string to 128 KiB. */
export const maxSecretBytes = 64 * 1024
const SecretValue = z.string().check(
  z.refine(
    (value) => new TextEncoder().encode(value).length <= maxSecretBytes,
    `must be at most ${maxSecretBytes} bytes`,
  ),
  z.regex(/^[^\0]*$/, 'must not contain a NUL character'),
)
const ByName = z.object({ name: SecretName })

export const Secret = z.object({ id: z.string(), name: z.string(), create_time_ms: EpochMs, update_time_ms: EpochMs })
export type Secret = z.infer<typeof Secret>

export const secrets = defineEndpoints('secrets', 'stable', {
  list: get('/v1/secrets', json(z.object({ secrets: z.array(Secret), ...pageEnvelope })), {
    query: z.object({ limit: pageQuery.limit }),
  }),
  create: post('/v1/secrets', json(Secret), { body: z.object({ name: SecretName, value: SecretValue }) }),
  get: get('/v1/secrets/:name', json(Secret), { params: ByName }),
  update: post('/v1/secrets/:name', json(Secret), { params: ByName, body: z.object({ value: SecretValue }) }),
  delete: post('/v1/secrets/:name/delete', json(Secret), { params: ByName }),
})
