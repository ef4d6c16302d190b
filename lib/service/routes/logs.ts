import { keepsDisk } from '#lib/contract/devboxes.ts'
import { logs } from '#lib/contract/logs.ts'
import { implement } from '#lib/service/http/implement.ts'
import type { Deps } from '#lib/service/parts.ts'

export const logRoutes = ({ devboxes, logs: runtime }: Deps) =>
  implement(logs, {
    list: async ({ params, query, account }) => {
      devboxes.get(account, params.id)
      return { logs: await runtime.list(params.id, query) }
    },
    tail: ({ params, query, account, signal }) => {
      devboxes.get(account, params.id)
      const hasEnded = () => !keepsDisk(devboxes.get(account, params.id))
      return runtime.follow(params.id, query, signal, hasEnded)
    },
  })
