import * as z from 'zod/mini'
import { defineEndpoint, json } from './endpoint.ts'

export const Health = z.object({ status: z.literal('ok'), version: z.string() })

export const health = {
  check: defineEndpoint({
    id: 'health.check',
    method: 'GET',
    path: '/healthz',
    response: json(Health),
    stability: 'stable',
    scope: 'local',
    open: true,
  }),
}
