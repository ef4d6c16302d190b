import { logs } from '#lib/contract/logs.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const logRoutes = () =>
  implement(logs, {
    list: notImplemented,
    tail: notImplemented,
  })
