import * as z from 'zod/mini'
import { EpochMs, pageEnvelope, queryInt } from './common.ts'
import { defineEndpoints, json } from './endpoint.ts'
import { defaultPageSize, maxPageSize } from './paging.ts'

const nameMessage = 'must be 1 to 256 letters, digits or _, and not begin with a digit'
/** The name of a secret, as that of an environment variable. */
export const SecretName = z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/, nameMessage))
/** Unspecified: the longest value; one string of a process's environment takes 128 KiB. */
export const maxSecretBytes = 64 * 1024
const SecretValue = z.string().check(
  z.refine(
    (value) => new TextEncoder().encode(value).length <= maxSecretBytes,
    `must be at most ${maxSecretBytes} bytes`,
  ),
  z.regex(/^[^\0]*$/, 'must not contain a NUL character'),
)
const ByName = z.object({ name: SecretName })

/** The value is never told. */
export const Secret = z.object({ id: z.string(), name: z.string(), create_time_ms: EpochMs, update_time_ms: EpochMs })
export type Secret = z.infer<typeof Secret>

export const secrets = defineEndpoints('secrets', 'stable', {
  list: {
    method: 'GET',
    path: '/v1/secrets',
    // There is no cursor: whoever has more asks for more at once.
    query: z.object({ limit: z._default(queryInt(1, maxPageSize), defaultPageSize) }),
    response: json(z.object({ secrets: z.array(Secret), ...pageEnvelope })),
  },
  create: {
    method: 'POST',
    path: '/v1/secrets',
    body: z.object({ name: SecretName, value: SecretValue }),
    response: json(Secret),
  },
  get: { method: 'GET', path: '/v1/secrets/:name', params: ByName, response: json(Secret) },
  update: {
    method: 'POST',
    path: '/v1/secrets/:name',
    params: ByName,
    body: z.object({ value: SecretValue }),
    response: json(Secret),
  },
  delete: { method: 'POST', path: '/v1/secrets/:name/delete', params: ByName, response: json(Secret) },
})
