import { secrets } from '#lib/contract/secrets.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const secretRoutes = () =>
  implement(secrets, {
    list: notImplemented,
    create: notImplemented,
    get: notImplemented,
    update: notImplemented,
    delete: notImplemented,
  })
