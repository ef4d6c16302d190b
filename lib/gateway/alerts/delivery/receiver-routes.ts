import { randomUUID } from 'node:crypto'
import type { Receiver, Receivers } from '#lib/protocol/alerts.ts'
import type { KeyHolder } from '../../accounts/types.ts'
import { actorOf, withActivityRecord } from '../../activity/activity.ts'
import { HttpError, json } from '../../http/handle-request.ts'
import { registry } from '../../registry/registry.ts'
import { serviceNow } from '../../upstream/clock.ts'
import { type AlertAction, type AlertRequest, read } from '../alert-request.ts'
import { testAlert } from '../alert-rules.ts'
import { isPrivateHost } from './address-guard.ts'
import { NewReceiverFields, ReceiverChange } from './receiver-fields.ts'

const maxReceivers = 20

export const receiverActions: Record<string, AlertAction> = {
  'GET receivers': ({ book, session }) =>
    json({
      receivers: book.receivers.list(),
      add_refusal: addRefusal(session),
      watches_alone: book.staysListening,
    } satisfies Receivers),
  'POST receivers': (request) => {
    const id = `rcv_${randomUUID()}`
    return record({ ...request, id }, 'alerts.add_receiver', async () => {
      const { book, session, body } = request
      requireOperator(session)
      const { url, secret, ...receiver } = read(NewReceiverFields, body)
      requireAllowedAddress(url)
      if (book.receivers.list().filter(({ source }) => source === 'page').length >= maxReceivers)
        throw new HttpError('conflict', `An account can have up to ${maxReceivers} receivers; delete one first`)
      const added = await book.receivers.add({ ...receiver, id }, { url, secret, api_key: session.api_key })
      book.stay(session.api_key)
      return added
    })
  },
  'POST receivers/:id': (request) =>
    record(request, 'alerts.change_receiver', async () => {
      const { book, session, body, id } = request
      requireOperator(session)
      const before = find(request, 'page')
      const { url, secret, format = before.format, ...change } = read(ReceiverChange, body)
      if (format !== before.format)
        throw new HttpError('invalid_argument', "format can't be changed; add another receiver", { field: 'format' })
      if (format === 'pagerduty' && secret === '')
        throw new HttpError('invalid_argument', 'secret must be the routing key of the PagerDuty integration', {
          field: 'secret',
        })
      if (url !== undefined) requireAllowedAddress(url)
      // The routing key would be sent to the new host.
      if (format === 'pagerduty' && secret === undefined && url !== undefined && new URL(url).host !== before.host)
        throw new HttpError('invalid_argument', 'secret must be entered again for another host', { field: 'secret' })
      const changed = await book.receivers.change(id, change, {
        ...(url !== undefined && { url }),
        ...(secret !== undefined && { secret }),
        api_key: session.api_key,
      })
      return changed ?? find(request)
    }),
  'DELETE receivers/:id': (request) =>
    record(request, 'alerts.delete_receiver', async () => {
      requireOperator(request.session)
      find(request, 'page')
      request.book.receivers.remove(request.id)
      return {}
    }),
  'POST receivers/:id/test': (request) =>
    record(request, 'alerts.test_receiver', async () => {
      find(request)
      return request.book.receivers.test(request.id, testAlert(serviceNow()))
    }),
  'POST receivers/:id/retry': (request) => {
    find(request)
    request.book.receivers.retryNow(request.id)
    return json({})
  },
}

/** Receivers make the console send requests, so only an operator can add one. */
const addRefusal = ({ api_key }: Pick<KeyHolder, 'api_key'>): string | null => {
  const { config, service } = registry()
  if (config.receivers.areForAccounts || (service.embedded && service.ownKey() === api_key)) return null
  return service.embedded
    ? "Only the service's own account can add receivers, unless the operator sets DEVDECK_RECEIVERS_ON_PAGE=accounts"
    : 'Only the operator of this console can add receivers, in the file that DEVDECK_RECEIVERS names'
}

const requireOperator = (session: KeyHolder): void => {
  const refusal = addRefusal(session)
  if (refusal !== null) throw new HttpError('forbidden', refusal)
}

const requireAllowedAddress = (url: string): void => {
  if (!registry().config.receivers.arePrivateAllowed && isPrivateHost(url))
    throw new HttpError('invalid_argument', 'url must not be a private address', { field: 'url' })
}

const find = ({ book, id }: AlertRequest, source?: Receiver['source']): Receiver => {
  const receiver = book.receivers.list().find((each) => each.id === id)
  if (!receiver) throw new HttpError('not_found', `Receiver ${id} not found`)
  if (source !== undefined && receiver.source !== source)
    throw new HttpError('conflict', 'This receiver can only be changed in the configuration of the console')
  return receiver
}

const record = (
  { session, header, id }: AlertRequest,
  operation: string,
  run: () => Promise<unknown>,
): Promise<Response> =>
  withActivityRecord(actorOf(session, header), { operation, subject: id }, async () => json(await run()))
