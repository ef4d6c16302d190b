import { tunnels } from '#lib/contract/tunnels.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const tunnelRoutes = () =>
  implement(tunnels, {
    enable: notImplemented,
    remove: notImplemented,
  })
