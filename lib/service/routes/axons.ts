import { axons, changeRefusal } from '#lib/contract/axons.ts'
import { implement } from '#lib/service/http/implement.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'
import { axonBytes, eventBytes } from '#lib/service/store/stored-bytes.ts'
import { cursorPosition, metadataHandlers } from './pages.ts'

export const axonRoutes = ({ store, axonEvents, axonSql, quota, now }: Deps) => {
  const targetOf = (account: string, id: string) => ({
    account,
    id,
    ...(store.axonEvents.find(account, id) ?? notFound('axon', id)),
  })
  return implement(axons, {
    list: ({ query, account, signal }) => {
      const before = cursorPosition('an axon', store.axons, account, query)
      return axonSql.list({ account, query, before, version: store.axons.version(account) }, signal)
    },
    create: ({ body, account }) => {
      quota.require(account)
      const axon = store.axons.create(account, body, now())
      quota.add(account, 'axons', axonBytes(axon))
      return axon
    },
    get: ({ params, account }) => store.axons.get(account, params.id) ?? notFound('axon', params.id),
    ...metadataHandlers(store.axons),
    update: ({ params, body, account }) => {
      const axon = store.axons.get(account, params.id) ?? notFound('axon', params.id)
      const refusal = changeRefusal(axon)
      if (refusal) throw new ServiceError('conflict', refusal, { shouldRetry: false })
      if (!body.metadata) return axon
      const grown = axonBytes({ ...axon, metadata: body.metadata }) - axonBytes(axon)
      if (grown > 0) quota.require(account, grown)
      const changed = store.axons.update(account, params.id, body.metadata) ?? axon
      quota.add(account, 'axons', grown)
      return changed
    },
    publish: async ({ params, body, account }) => {
      const bytes = eventBytes(body)
      // Counted before the write, so that concurrent ones cannot exceed the limit.
      quota.take(account, 'axons', bytes)
      try {
        return await axonEvents.publish(account, params.id, body)
      } catch (error) {
        quota.add(account, 'axons', -bytes)
        throw error
      }
    },
    events: ({ params, query, account }) => {
      const { seq } = store.axonEvents.find(account, params.id) ?? notFound('axon', params.id)
      return store.axonEvents.list(seq, params.id, query)
    },
    subscribe: ({ params, query, account, signal }) =>
      axonEvents.subscribe(account, params.id, query.after_sequence ?? 0, signal),
    query: ({ params, body, account }) => axonSql.query(targetOf(account, params.id), body),
    batch: ({ params, body, account }) => axonSql.batch(targetOf(account, params.id), body.statements),
    delete: ({ params, account }) => {
      if (!store.axons.delete(account, params.id, now())) notFound('axon', params.id)
      axonEvents.end(params.id)
      return {}
    },
  })
}
