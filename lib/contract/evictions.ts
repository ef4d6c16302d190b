import * as z from 'zod/mini'
import { Empty, EpochMs, Id, maxEpochMs } from './common.ts'
import { defineEndpoints, events, json } from './endpoint.ts'

const Deadline = EpochMs.check(z.nonnegative(), z.maximum(maxEpochMs))

/** A devbox stays running until its deadline; after it, it is suspended. */
export const Eviction = z.object({ devbox_id: z.string(), eviction_deadline_ms: Deadline })
export type Eviction = z.infer<typeof Eviction>

/**
 * Unspecified: how a reader of the watch knows that everything pending has been repeated. Our service sends the number
 * of pending evictions in this header; of any other service the console has to judge by time.
 */
export const pendingCountHeader = 'x-pending-evictions'

export const evictions = defineEndpoints('evictions', 'stable', {
  watch: { method: 'GET', path: '/v1/devboxes/evictions/watch', response: events(Eviction) },
  schedule: {
    method: 'POST',
    path: '/local/evictions',
    body: z.object({ devbox_id: Id, eviction_deadline_ms: Deadline }),
    response: json(Eviction),
    scope: 'local',
  },
  cancel: {
    method: 'DELETE',
    path: '/local/evictions/:devbox_id',
    params: z.object({ devbox_id: Id }),
    response: json(Empty),
    scope: 'local',
  },
})
