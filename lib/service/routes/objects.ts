import { objects } from '#lib/contract/objects.ts'
import { attachment } from '#lib/service/http/content-disposition.ts'
import { implement } from '#lib/service/http/implement.ts'
import type { Deps } from '#lib/service/parts.ts'
import { listPage, metadataHandlers, noPublic } from './pages.ts'

export const objectRoutes = ({ store, objects: runtime }: Deps) =>
  implement(objects, {
    list: ({ query, account }) => listPage('objects', 'object', store.objects, account, query),
    listPublic: ({ query }) => noPublic('objects', query),
    ...metadataHandlers(store.objects),
    create: ({ body, account, origin }) => runtime.create(account, body, origin),
    get: ({ params, account }) => runtime.get(account, params.id),
    complete: ({ params, account }) => runtime.complete(account, params.id),
    download: ({ params, query, account, origin }) => ({
      download_url: runtime.downloadLink(account, params.id, origin, query.duration_seconds),
    }),
    delete: ({ params, account }) => runtime.delete(account, params.id),
    putContent: async ({ params, account, file }) => {
      await runtime.upload(account, params.id, file)
      return {}
    },
    getContent: async ({ params, account, setHeader }) => {
      const { name, size, content } = await runtime.read(account, params.id)
      setHeader('content-length', String(size))
      setHeader('content-disposition', attachment(name))
      return content
    },
  })
