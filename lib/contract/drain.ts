import * as z from 'zod/mini'
import { EpochMs } from './common.ts'
import { defineEndpoints, json } from './endpoint.ts'

export const drain = defineEndpoints('drain', 'stable', {
  start: {
    method: 'POST',
    path: '/local/drain',
    body: z.object({
      deadline_seconds: z.int().check(z.minimum(0), z.maximum(7 * 24 * 3600)),
    }),
    response: json(z.object({ eviction_deadline_ms: EpochMs, devboxes: z.int() })),
    scope: 'local',
    operator: true,
  },
})
