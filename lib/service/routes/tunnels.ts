import { tunnels } from '#lib/contract/tunnels.ts'
import { implement } from '#lib/service/http/implement.ts'
import type { Deps } from '#lib/service/parts.ts'

export const tunnelRoutes = ({ tunnels: runtime }: Deps) =>
  implement(tunnels, {
    enable: ({ params, body, account }) => runtime.enable(account, params.id, body),
    remove: ({ params, account }) => {
      runtime.remove(account, params.id)
      return {}
    },
  })
