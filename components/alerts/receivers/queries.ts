import { mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import { fetchConsoleJson, sendToConsole } from '#lib/browser/api/console-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import type { Delivery, Receiver, Receivers } from '#lib/protocol/alerts.ts'
import type { ReceiverInput } from './receiver-form.ts'

const listKey = ['alerts', 'receivers']
const pollMs = 5_000
const sendingPollMs = 1_000

export const receiverQueries = {
  list: () =>
    queryOptions({
      queryKey: listKey,
      queryFn: ({ signal }) => fetchConsoleJson<Receivers>('/api/alerts/receivers', signal),
      refetchInterval: (query) =>
        pollEvery(query.state.data?.receivers.some(isSending) ? sendingPollMs : pollMs)(query),
    }),
}

const isSending = ({ waiting, failure, is_paused }: Receiver) => waiting > 0 && !failure && !is_paused

const call = <Answer = unknown>(method: string, path = '', body?: unknown) =>
  sendToConsole<Answer>(method, `/api/alerts/receivers${path}`, body)

const pathOf = (id: string) => `/${encodeURIComponent(id)}`

const onSettled = (
  _answer: unknown,
  _error: unknown,
  _input: unknown,
  _result: unknown,
  { client }: { client: QueryClient },
) => client.invalidateQueries({ queryKey: listKey })

export const receiverMutations = {
  add: () => mutationOptions({ mutationFn: (input: ReceiverInput) => call<Receiver>('POST', '', input), onSettled }),
  change: () =>
    mutationOptions({
      mutationFn: ({ id, ...change }: { id: string } & Partial<ReceiverInput & Pick<Receiver, 'is_paused'>>) =>
        call<Receiver>('POST', pathOf(id), change),
      onSettled,
    }),
  remove: () => mutationOptions({ mutationFn: (id: string) => call('DELETE', pathOf(id)), onSettled }),
  test: () => mutationOptions({ mutationFn: (id: string) => call<Delivery>('POST', `${pathOf(id)}/test`), onSettled }),
  retry: () => mutationOptions({ mutationFn: (id: string) => call('POST', `${pathOf(id)}/retry`), onSettled }),
}
