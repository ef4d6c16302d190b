import * as z from 'zod/mini'
import { defineEndpoints, get, json } from './endpoint.ts'

export const Health = z.object({
  status: z.literal('ok'),
  version: z.string(),
  /** Ids of the operations that this service implements. Others return 501. */
  operations: z.optional(z.array(z.string())),
})

export const health = defineEndpoints('health', 'stable', {
  check: get('/healthz', json(Health), { scope: 'local', isPublic: true }),
})
