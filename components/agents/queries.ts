import { mutationOptions, type QueryKey, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { matcher } from '#lib/browser/lists/row-filters.ts'
import { listPages, listRefresh, type Shown } from '#lib/browser/queries/list/pages.ts'
import { type Agent, type AgentCreate, agents } from '#lib/contract/agents.ts'
import type { ScopedAgentQuery } from './search-params.ts'

const pageApi = browserApi({ agents })
type Api = typeof pageApi
type AgentPage = Awaited<ReturnType<Api['agents']['list']>>

const agentKeys = { all: ['agents'] as const }

export const agentMatches = matcher<ScopedAgentQuery, Agent>({
  version: (agent, version) => version === 'latest' || agent.version === version,
})

const agentList = ({ scope, ...query }: ScopedAgentQuery, api: Api) => ({
  queryKey: [...agentKeys.all, 'list', scope ?? 'own', query],
  query,
  read: (query: Omit<ScopedAgentQuery, 'scope'>, signal: AbortSignal) =>
    scope === 'public' ? api.agents.listPublic({ query, signal }) : api.agents.list({ query, signal }),
  rowsOf: ({ agents }: AgentPage) => agents,
  withRows: (page: AgentPage, rows: readonly Agent[]) => ({ ...page, agents: [...rows] }),
})

export const agentQueries = {
  list: (query: ScopedAgentQuery, api: Api = pageApi) => ({
    ...listPages(agentList(query, api)),
    refresh: (shown: () => Shown<Agent>) => listRefresh(agentList(query, api), shown),
  }),

  get: (id: string) =>
    queryOptions<Agent, Error, Agent, QueryKey>({
      queryKey: [...agentKeys.all, 'get', id],
      queryFn: ({ signal }) => pageApi.agents.get({ params: { id }, signal }),
    }),

  /** Number of devboxes by agent name. */
  devboxCounts: () =>
    queryOptions({
      queryKey: [...agentKeys.all, 'devbox-counts'] as const,
      queryFn: async ({ signal }) => (await pageApi.agents.devboxCounts({ signal })).counts,
      retry: false,
    }),
}

export const agentMutations = {
  create: () => change('create', (body: AgentCreate) => pageApi.agents.create({ body })),
  delete: () => change('delete', (id: string) => pageApi.agents.delete({ params: { id } })),
}

const change = <Input, Result>(name: string, call: (input: Input) => Promise<Result>) =>
  mutationOptions({
    mutationKey: [...agentKeys.all, name],
    mutationFn: call,
    onSettled: (_result, _error, _input, _context, { client }) => {
      void client.invalidateQueries({ queryKey: agentKeys.all })
      void client.invalidateQueries({ queryKey: ['mounts', 'agents'] })
    },
  })
