import * as z from 'zod/mini'
import { type PushSubscriptions, type PushSubscriptionView, pushIdOf } from '#lib/protocol/push.ts'
import { sessionExpiryMs } from '../accounts/types.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { type AlertAction, type AlertRequest, read } from '../alerts/alert-request.ts'
import { testAlert } from '../alerts/alert-rules.ts'
import { HttpError, json } from '../http/handle-request.ts'
import { serviceNow } from '../upstream/clock.ts'
import { pushKeys } from './push-keys.ts'
import { isPushEndpoint } from './push-services.ts'

const maxSubscriptions = 100

const key = (bytes: number) =>
  z.string().check(
    z.maxLength(200),
    z.refine((value) => Buffer.from(value, 'base64url').length === bytes, `must be ${bytes} bytes in base64url`),
  )
const Subscription = z.object({
  endpoint: z.string().check(
    z.maxLength(2048),
    z.refine((value) => isPushEndpoint(value), 'is not the address of a known push service'),
  ),
  keys: z.object({ p256dh: key(65), auth: key(16) }),
  shows_names: z.boolean(),
})
const Change = z.object({ shows_names: z.boolean() })

/** Actions below `/api/alerts/push`. */
export const pushActions: Record<string, AlertAction> = {
  'GET push': ({ book }) =>
    json({ public_key: pushKeys().publicKey, subscriptions: book.receivers.pushes() } satisfies PushSubscriptions),
  'POST push': async (request) => {
    const { book, session, person, header, body } = request
    const { endpoint, keys, shows_names } = read(Subscription, body)
    const id = await pushIdOf(endpoint)
    return record({ ...request, id }, 'alerts.add_push', async () => {
      const pushes = book.receivers.pushes()
      if (pushes.length >= maxSubscriptions && !pushes.some((each) => each.id === id))
        throw new HttpError(
          'conflict',
          `An account can have up to ${maxSubscriptions} browsers with push; turn one off`,
        )
      await book.receivers.addPush(id, { endpoint, keys }, session.api_key, {
        sid: session.sid,
        person,
        browser: actorOf(session, header).browser,
        created_ms: Date.now(),
        expires_ms: sessionExpiryMs(session),
        shows_names,
      })
      book.stay(session.api_key)
      return find({ ...request, id })
    })
  },
  /** Extends it to the session of this browser. */
  'POST push/:id/renew': async (request) => {
    const { book, session, id } = request
    find(request)
    await book.receivers.changePush(id, { sid: session.sid, expires_ms: sessionExpiryMs(session) }, session.api_key)
    book.stay(session.api_key)
    return json(find(request))
  },
  'POST push/:id': (request) =>
    record(request, 'alerts.change_push', async () => {
      find(request)
      await request.book.receivers.changePush(request.id, read(Change, request.body))
      return find(request)
    }),
  'POST push/:id/test': (request) =>
    record(request, 'alerts.test_push', async () => {
      find(request)
      const delivery = await request.book.receivers.test(request.id, testAlert(serviceNow()))
      return { is_delivered: delivery?.state === 'delivered', answer: delivery?.answer ?? '' }
    }),
  'DELETE push/:id': (request) =>
    record(request, 'alerts.delete_push', async () => {
      find(request)
      request.book.receivers.remove(request.id)
      return {}
    }),
  'DELETE push': (request) =>
    record({ ...request, id: 'all browsers' }, 'alerts.delete_push', async () => {
      for (const { id } of request.book.receivers.pushes()) request.book.receivers.remove(id)
      return {}
    }),
}

const find = ({ book, id }: AlertRequest): PushSubscriptionView => {
  const found = book.receivers.pushes().find((each) => each.id === id)
  if (!found) throw new HttpError('not_found', 'This browser gets no push notifications for this account')
  return found
}

const record = ({ session, header, id }: AlertRequest, operation: string, run: () => Promise<unknown>) =>
  withActivityRecord(actorOf(session, header), { operation, subject: id }, async () => json(await run()))
