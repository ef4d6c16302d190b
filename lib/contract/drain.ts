import * as z from 'zod/mini'
import { EpochMs } from './common.ts'
import { defineEndpoints, json, post } from './endpoint.ts'

export const drain = defineEndpoints('drain', 'stable', {
  start: post('/local/drain', json(z.object({ eviction_deadline_ms: EpochMs, devboxes: z.int() })), {
    body: z.object({
      deadline_seconds: z.int().check(z.minimum(0), z.maximum(7 * 24 * 3600)),
    }),
    scope: 'local',
    operator: true,
  }),
})
