import * as z from 'zod/mini'
import { defineEndpoints, json } from './endpoint.ts'

export const Health = z.object({ status: z.literal('ok'), version: z.string() })

export const health = defineEndpoints('health', 'stable', {
  check: { method: 'GET', path: '/healthz', response: json(Health), scope: 'local', isPublic: true },
})
