import * as z from 'zod/mini'
import { Empty, EpochMs, Id, maxEpochMs } from './common.ts'
import { defineEndpoints, del, events, get, json, post } from './endpoint.ts'

const Deadline = EpochMs.check(z.nonnegative(), z.maximum(maxEpochMs))

export const Eviction = z.object({
  devbox_id: z.string(),
  eviction_deadline_ms: Deadline,
  /** Unspecified: hostname of the devbox's node in a cluster. */
  node: z.optional(z.string()),
})
export type Eviction = z.infer<typeof Eviction>

/** Unspecified: number of pending evictions at the start of the watch. */
export const pendingCountHeader = 'x-pending-evictions'

export const evictions = defineEndpoints('evictions', 'stable', {
  watch: get('/v1/devboxes/evictions/watch', events(Eviction)),
  schedule: post('/local/evictions', json(Eviction), {
    body: z.object({ devbox_id: Id, eviction_deadline_ms: Deadline }),
    scope: 'local',
  }),
  cancel: del('/local/evictions/:devbox_id', json(Empty), { params: z.object({ devbox_id: Id }), scope: 'local' }),
})
