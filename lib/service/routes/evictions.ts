import { devboxRefusal } from '#lib/contract/devboxes.ts'
import { evictions, pendingCountHeader } from '#lib/contract/evictions.ts'
import { implement } from '#lib/service/http/implement.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'

export const evictionRoutes = ({ devboxes, evictions: runtime }: Deps) =>
  implement(evictions, {
    watch: ({ account, signal, setHeader }) => {
      setHeader(pendingCountHeader, String(runtime.pending(account).length))
      return runtime.watch(account, signal)
    },
    schedule: ({ body, account }) => {
      const refusal = devboxRefusal('suspend', devboxes.get(account, body.devbox_id).status)
      if (refusal) throw new ServiceError('conflict', refusal, { shouldRetry: false })
      runtime.schedule(account, body)
      return body
    },
    cancel: ({ params, account }) => {
      devboxes.get(account, params.devbox_id)
      return runtime.cancel(params.devbox_id) ? {} : notFound('eviction of devbox', params.devbox_id)
    },
  })
