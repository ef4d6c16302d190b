import { mutationOptions, queryOptions, useQuery } from '@tanstack/react-query'
import { fetchConsoleJson, sendToConsole } from '#lib/browser/api/console-api.ts'
import { supportKey } from '#lib/browser/queries/support-key.ts'
import type { ServiceSupport, Support } from '#lib/protocol/support.ts'

export const supportQueries = {
  /** Read once per page load. The console may learn more from later calls of the page. */
  current: () =>
    queryOptions({
      queryKey: supportKey,
      queryFn: ({ signal }) => fetchConsoleJson<ServiceSupport>('/api/support', signal),
      staleTime: 60_000,
      refetchInterval: false,
    }),
}

export const supportMutations = {
  checkAgain: () =>
    mutationOptions({
      mutationFn: () => sendToConsole<ServiceSupport>('POST', '/api/support'),
      onSuccess: (support, _input, _result, { client }) => client.setQueryData(supportKey, support),
    }),
}

/** Whether the service offers an operation, by its id in the contract, such as `logs.tail`. */
export const useSupport = (endpointId: string): Support =>
  useQuery(supportQueries.current()).data?.operations[endpointId] ?? 'unknown'

/** Whether a list takes a query parameter that is an extension. False until it is known. */
export const useParameter = (endpointId: string | undefined, parameter: string): boolean => {
  const { data } = useQuery(supportQueries.current())
  return endpointId !== undefined && (data?.parameters[endpointId]?.includes(parameter) ?? false)
}
