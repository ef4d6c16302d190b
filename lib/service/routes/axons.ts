import { axons } from '#lib/contract/axons.ts'
import type { Deps } from '#lib/service/deps.ts'
import { notFound } from '#lib/service/errors.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'
import { invalid } from '#lib/service/http/router.ts'

export const axonRoutes = ({ store, now }: Deps) =>
  implement(axons, {
    list: ({ query, account }) => {
      if (query.starting_after === undefined) return store.axons.list(account, query)
      const before = store.axons.position(account, query.starting_after)
      if (before === undefined) throw invalid({ field: 'starting_after', message: 'is not the id of an axon' })
      return store.axons.list(account, query, before)
    },
    create: ({ body, account }) => store.axons.create(account, body, now()),
    get: ({ params, account }) => store.axons.get(account, params.id) ?? notFound('axon', params.id),
    metadataKeys: notImplemented,
    metadataValues: notImplemented,
    update: notImplemented,
    publish: notImplemented,
    events: notImplemented,
    subscribe: notImplemented,
    query: notImplemented,
    batch: notImplemented,
    delete: ({ params, account }) => (store.axons.delete(account, params.id, now()) ? {} : notFound('axon', params.id)),
  })
