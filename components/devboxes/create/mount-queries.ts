import { queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { agents } from '#lib/contract/agents.ts'
import { objects } from '#lib/contract/objects.ts'

const pageApi = browserApi({ agents, objects })

/** Enough to choose from in a select field. */
const limit = 200

export const mountQueries = {
  objects: () =>
    queryOptions({
      queryKey: ['mounts', 'objects'] as const,
      queryFn: async ({ signal }) => {
        const query = { limit, state: 'READ_ONLY', include_total_count: false } as const
        const page = await pageApi.objects.list({ query, signal })
        return page.objects
          .filter(({ state }) => state === 'READ_ONLY')
          .map(({ id, name }) => ({ value: id, label: name }))
      },
      retry: false,
    }),

  agents: () =>
    queryOptions({
      queryKey: ['mounts', 'agents'] as const,
      queryFn: async ({ signal }) => {
        const page = await pageApi.agents.list({ query: { limit, include_total_count: false }, signal })
        return page.agents.map(({ id, name, version }) => ({ value: id, label: version ? `${name} ${version}` : name }))
      },
      retry: false,
    }),
}
