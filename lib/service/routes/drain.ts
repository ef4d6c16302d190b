import { drain } from '#lib/contract/drain.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const drainRoutes = () =>
  implement(drain, {
    start: notImplemented,
  })
