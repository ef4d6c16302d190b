import { mutationOptions, queryOptions, useQuery } from '@tanstack/react-query'
import { devboxKeys } from '#components/devboxes/query-keys.ts'
import { fetchConsoleJson, sendToConsole } from '#lib/browser/api/console-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import type { Cluster } from '#lib/contract/cluster.ts'
import type { ClusterView } from '#lib/protocol/cluster.ts'

const clusterKey = ['cluster'] as const
const pollMs = 3_000

const view = () =>
  queryOptions({
    queryKey: clusterKey,
    queryFn: ({ signal }) => fetchConsoleJson<ClusterView>('/api/cluster', signal),
  })

export const clusterQueries = {
  view: () => queryOptions({ ...view(), refetchInterval: pollEvery(pollMs) }),
  /** Reads it once: whether a service has a cluster, and its registry, change with its restart only. */
  known: () => queryOptions({ ...view(), staleTime: Number.POSITIVE_INFINITY, refetchInterval: false }),
}

/** Null without a cluster, and until that is known. Its nodes may be as of the last visit to the cluster's page. */
export const useCluster = (): Cluster | null => useQuery(clusterQueries.known()).data?.cluster ?? null

const nodeAction = <Input extends { id: string }>(path: string, bodyOf?: (input: Input) => unknown) =>
  mutationOptions({
    mutationFn: (input: Input) =>
      sendToConsole<unknown>('POST', `/api/cluster/nodes/${encodeURIComponent(input.id)}/${path}`, bodyOf?.(input)),
    onSettled: (_answer, _error, _input, _result, { client }) => {
      void client.invalidateQueries({ queryKey: clusterKey })
      void client.invalidateQueries({ queryKey: devboxKeys.lists })
    },
  })

export const clusterMutations = {
  drain: () => nodeAction('drain', ({ seconds }: { id: string; seconds: number }) => ({ deadline_seconds: seconds })),
  activate: () => nodeAction('activate'),
}
