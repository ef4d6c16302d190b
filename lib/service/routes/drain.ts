import { drain as endpoints } from '#lib/contract/drain.ts'
import { implement } from '#lib/service/http/implement.ts'
import type { Deps } from '#lib/service/parts.ts'

export const drainRoutes = ({ drain, now }: Deps) =>
  implement(endpoints, {
    start: ({ body }) => {
      const eviction_deadline_ms = now() + body.deadline_seconds * 1000
      return { eviction_deadline_ms, devboxes: drain.schedule(eviction_deadline_ms) }
    },
  })
