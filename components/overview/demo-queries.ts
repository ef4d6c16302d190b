import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { fetchConsoleJson, sendToConsole } from '#lib/browser/api/console-api.ts'
import type { DemoView } from '#lib/protocol/demo.ts'

const queryKey = ['demo'] as const
const changingMs = 500

export const isDemoChanging = ({ state }: DemoView): boolean => state === 'loading' || state === 'removing'

export const demoQueries = {
  view: () =>
    queryOptions({
      queryKey,
      queryFn: ({ signal }) => fetchConsoleJson<DemoView>('/api/demo', signal),
      refetchInterval: ({ state: { data } }) => (data && isDemoChanging(data) ? changingMs : false),
    }),
}

const change = (method: 'POST' | 'DELETE') =>
  mutationOptions({
    mutationFn: () => sendToConsole<DemoView>(method, '/api/demo'),
    onSuccess: (view, _variables, _result, { client }) => client.setQueryData(queryKey, view),
  })

export const demoMutations = { load: () => change('POST'), remove: () => change('DELETE') }
