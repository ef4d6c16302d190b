import { blueprints } from '#lib/contract/blueprints.ts'
import { implement } from '#lib/service/http/implement.ts'
import type { Deps } from '#lib/service/parts.ts'
import { listPage, metadataHandlers, noPublic } from './pages.ts'

export const blueprintRoutes = ({ store, blueprints: runtime }: Deps) =>
  implement(blueprints, {
    list: ({ query, account }) => listPage('blueprints', 'blueprint', store.blueprints, account, query),
    listPublic: ({ query }) => noPublic('blueprints', query),
    create: ({ body, account, requestId }) => runtime.create(account, body, requestId),
    preview: ({ body, account }) => ({ dockerfile: runtime.preview(account, body) }),
    ...metadataHandlers(store.blueprints),
    get: ({ params, account }) => runtime.get(account, params.id),
    logs: async ({ params, account }) => ({ blueprint_id: params.id, logs: await runtime.logs(account, params.id) }),
    tailLogs: ({ params, account, signal }) => {
      runtime.get(account, params.id)
      return runtime.followLogs(account, params.id, signal)
    },
    delete: async ({ params, account }) => {
      await runtime.delete(account, params.id)
      return {}
    },
  })
