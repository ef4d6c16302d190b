import { devboxRefusal } from '#lib/contract/devboxes.ts'
import { type SnapshotCreate, snapshots } from '#lib/contract/snapshots.ts'
import { type Caller, implement } from '#lib/service/http/implement.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'
import { listPage, metadataHandlers, noPublic } from './pages.ts'

export const snapshotRoutes = ({ store, devboxes, snapshots: runtime }: Deps) => {
  const start = ({ params, body, account, requestId }: Caller & { params: { id: string }; body: SnapshotCreate }) => {
    const refusal = devboxRefusal('snapshot', devboxes.get(account, params.id).status)
    // Unspecified: 400, as for other calls that the status does not allow.
    if (refusal) throw new ServiceError('invalid_argument', refusal, { shouldRetry: false })
    return runtime.begin(account, params.id, body, requestId)
  }
  const notDeleted = (account: string, id: string) => {
    const state = store.snapshots.state(account, id)
    return state && state.status !== 'deleted' ? state.snapshot : notFound('snapshot', id)
  }
  return implement(snapshots, {
    list: ({ query, account }) => {
      if (query.devbox_id !== undefined) devboxes.get(account, query.devbox_id)
      return listPage('snapshots', 'snapshot', store.snapshots, account, query)
    },
    listPublic: ({ query }) => noPublic('snapshots', query),
    ...metadataHandlers(store.snapshots),
    status: ({ params, account }) => store.snapshots.state(account, params.id) ?? notFound('snapshot', params.id),
    update: async ({ params, body, account }) => {
      notDeleted(account, params.id)
      store.snapshots.update(params.id, body)
      await runtime.writeRecord(params.id)
      return notDeleted(account, params.id)
    },
    delete: async ({ params, account }) => {
      await runtime.delete(account, params.id)
      return {}
    },
    create: async (call) => runtime.completed(call.account, (await start(call)).id),
    createAsync: start,
  })
}
