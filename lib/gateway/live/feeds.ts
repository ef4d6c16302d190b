import type { AlertItem } from '#lib/protocol/alerts.ts'
import type { EvictionStreamState } from '#lib/protocol/evictions.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { alertBookFor } from '../alerts/alert-books.ts'
import type { EvictionListener } from '../alerts/eviction-listener.ts'
import { evictionWatchFor } from '../alerts/eviction-watch.ts'
import type { Subscriber } from './subscription.ts'

/** Items serialized once for all pages that receive them. */
const jsonCache = new WeakMap<object, string>()
const toJson = (item: object): string => {
  const cached = jsonCache.get(item)
  if (cached !== undefined) return cached
  const json = JSON.stringify(item)
  jsonCache.set(item, json)
  return json
}

/** Sends items to one page. A page that falls behind gets one snapshot in place of what it missed. */
const feed = (subscriber: Subscriber, snapshot: () => unknown) => {
  let isBehind = false
  const sendSnapshot = () => subscriber.data(JSON.stringify(snapshot()), '')
  return {
    sendSnapshot,
    send: (item: object) => {
      if (isBehind) return
      const room = subscriber.room()
      if (!room) return subscriber.data(toJson(item), '')
      isBehind = true
      void room.then(() => {
        isBehind = false
        subscriber.resync('')
        sendSnapshot()
      })
    },
  }
}

/** Sends the account's alerts to one page until `leave()`. The topic's state is that of the eviction stream. */
export const followAlerts = (holder: KeyHolder, subscriber: Subscriber) => {
  const book = alertBookFor(holder)
  const watch = evictionWatchFor(holder)
  const { send } = feed(subscriber, () => book.snapshot())
  const leaveBook = book.join(holder.api_key, (item: AlertItem) => send(item))
  const listener: EvictionListener = {
    start: ({ upstream }) => reportUpstream(subscriber, upstream),
    onEvent: (event) => event.event === 'upstream' && reportUpstream(subscriber, event.data),
    // The watch ends with the session or the console, and both close the page's socket.
    end: () => undefined,
  }
  watch.join(listener)
  return {
    leave: () => {
      watch.leave(listener)
      leaveBook()
    },
  }
}

/** Sends the account's evictions to one page until `leave()`. */
export const followEvictions = (holder: KeyHolder, subscriber: Subscriber) => {
  const watch = evictionWatchFor(holder)
  const { send, sendSnapshot } = feed(subscriber, () => ({ event: 'snapshot', data: watch.snapshot() }))
  const listener: EvictionListener = {
    start: ({ upstream }) => {
      reportUpstream(subscriber, upstream)
      sendSnapshot()
    },
    onEvent: (event) => (event.event === 'upstream' ? reportUpstream(subscriber, event.data) : send(event)),
    end: () => undefined,
  }
  watch.join(listener)
  return { leave: () => watch.leave(listener) }
}

const reportUpstream = (subscriber: Subscriber, { state, retry_at_ms }: EvictionStreamState): void => {
  if (state === 'live') subscriber.state('live')
  else if (state === 'refused') subscriber.state('lost', refused)
  else subscriber.state('lost', { ...unreachable, ...(retry_at_ms !== undefined && { retry_at_ms }) })
}

const refused = { code: 'forbidden', status: 403, message: 'The service refuses the eviction stream for this key' }
const unreachable = { code: 'unreachable', status: 0, message: 'The eviction stream was interrupted' }
