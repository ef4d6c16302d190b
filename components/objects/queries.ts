import { mutationOptions, type QueryKey, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { fetchWithSession } from '#lib/browser/api/console-api.ts'
import { matcher } from '#lib/browser/lists/row-filters.ts'
import { listPages, listRefresh, metadataWords, type Shown } from '#lib/browser/queries/list/pages.ts'
import { type ObjectCreate, type ObjectListQuery, objects, type StoredObject } from '#lib/contract/objects.ts'

const pageApi = browserApi({ objects })
type Api = typeof pageApi
type ObjectPage = Awaited<ReturnType<Api['objects']['list']>>

const objectKeys = { all: ['objects'] as const }

export const objectMatches = matcher<ObjectListQuery, StoredObject>({
  content_type: (object, type) => object.content_type === type,
  state: (object, state) => object.state === state,
})

const objectList = (query: ObjectListQuery, api: Api) => ({
  queryKey: [...objectKeys.all, 'list', query],
  query,
  read: (query: ObjectListQuery, signal: AbortSignal) => api.objects.list({ query, signal }),
  rowsOf: ({ objects }: ObjectPage) => objects,
  withRows: (page: ObjectPage, rows: readonly StoredObject[]) => ({ ...page, objects: [...rows] }),
  isActive: ({ state }: StoredObject) => state === 'UPLOADING',
})

export const objectQueries = {
  list: (query: ObjectListQuery, api: Api = pageApi) => ({
    ...listPages(objectList(query, api)),
    refresh: (shown: () => Shown<StoredObject>) => listRefresh(objectList(query, api), shown),
  }),

  get: (id: string) =>
    queryOptions<StoredObject, Error, StoredObject, QueryKey>({
      queryKey: [...objectKeys.all, 'get', id],
      queryFn: ({ signal }) => pageApi.objects.get({ params: { id }, signal }),
    }),

  metadataKeys: () =>
    metadataWords([...objectKeys.all, 'metadata-keys'], (signal) => pageApi.objects.metadataKeys({ signal })),
}

/** The console's server requests a link from the service and passes the bytes through. */
export const objectContentHref = (id: string): string => `/api/objects/${encodeURIComponent(id)}/content`

export type ObjectUpload = ObjectCreate & { file: File }

export const objectMutations = {
  upload: () =>
    change('upload', async ({ file, ...object }: ObjectUpload): Promise<StoredObject> => {
      const query = new URLSearchParams({ object: JSON.stringify(object) })
      return (await fetchWithSession(`/api/objects?${query}`, { method: 'POST', body: file })).json()
    }),
  delete: () => change('delete', (id: string) => pageApi.objects.delete({ params: { id } })),
}

const change = <Input>(name: string, call: (input: Input) => Promise<StoredObject>) =>
  mutationOptions({
    mutationKey: [...objectKeys.all, name],
    mutationFn: call,
    onSettled: (_result, _error, _input, _context, { client }) => {
      void client.invalidateQueries({ queryKey: objectKeys.all })
      void client.invalidateQueries({ queryKey: ['mounts', 'objects'] })
    },
  })
