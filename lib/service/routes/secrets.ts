import { secrets } from '#lib/contract/secrets.ts'
import { implement } from '#lib/service/http/implement.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'

export const secretRoutes = ({ store, now }: Deps) =>
  implement(secrets, {
    list: ({ query, account }) => store.secrets.list(account, query.limit),
    create: ({ body: { name, value }, account }) => {
      const created = store.secrets.create(account, name, value, now())
      if (created) return created
      // Unspecified: 409 for a taken name.
      throw new ServiceError('conflict', `Secret ${name} already exists. Update it to replace its value`, {
        field: 'name',
        shouldRetry: false,
      })
    },
    get: ({ params, account }) => store.secrets.get(account, params.name) ?? notFound('secret', params.name),
    update: ({ params, body, account }) =>
      store.secrets.update(account, params.name, body.value, now()) ?? notFound('secret', params.name),
    usage: ({ params, account }) => store.secrets.usage(account, params.name) ?? notFound('secret', params.name),
    delete: ({ params, account }) => store.secrets.delete(account, params.name) ?? notFound('secret', params.name),
  })
