import { agents } from '#lib/contract/agents.ts'
import { implement } from '#lib/service/http/implement.ts'
import { notFound } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'
import { listPage, noPublic } from './pages.ts'

export const agentRoutes = ({ store: { agents: store }, now }: Deps) =>
  implement(agents, {
    list: ({ query, account }) => listPage('agents', 'agent', store, account, query),
    listPublic: ({ query }) => noPublic('agents', query),
    devboxCounts: ({ account }) => {
      const counts = store.devboxCounts(account)
      return { counts, total_count: Object.values(counts).reduce((sum, count) => sum + count, 0) }
    },
    create: ({ body, account }) => store.create(account, body, now()),
    get: ({ params, account }) => store.get(account, params.id) ?? notFound('agent', params.id),
    delete: ({ params, account }) => {
      if (!store.get(account, params.id)) notFound('agent', params.id)
      store.delete(params.id)
      return {}
    },
  })
