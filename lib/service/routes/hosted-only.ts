import { hostedOnly } from '#lib/contract/hosted-only.ts'
import { notImplemented, type Route } from '#lib/service/http/implement.ts'

export const hostedOnlyRoutes = (): Route[] =>
  Object.values(hostedOnly).map((endpoint) => ({ endpoint, handler: notImplemented }))
