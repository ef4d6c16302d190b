import * as z from 'zod/mini'
import { defineEndpoints, get, json } from './endpoint.ts'

export const Health = z.object({ status: z.literal('ok'), version: z.string() })

export const health = defineEndpoints('health', 'stable', {
  check: get('/healthz', json(Health), { scope: 'local', isPublic: true }),
})
