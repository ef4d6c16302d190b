import type { AlertItem } from '#lib/protocol/alerts.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { alertBookFor } from '../alerts/alert-books.ts'
import type { EvictionListener, EvictionStreamState } from '../alerts/eviction-listener.ts'
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

/**
 * Sends the account's alerts to one page until `leave()`. The topic's state is that of the eviction stream. A page that
 * falls behind gets one snapshot in place of what it missed.
 */
export const followAlerts = (holder: KeyHolder, subscriber: Subscriber) => {
  const book = alertBookFor(holder)
  const watch = evictionWatchFor(holder)
  let isBehind = false
  const send = (item: AlertItem) => {
    if (isBehind) return
    const room = subscriber.room()
    if (!room) return subscriber.data(toJson(item), '')
    isBehind = true
    void room.then(() => {
      isBehind = false
      subscriber.resync('')
      subscriber.data(JSON.stringify(book.snapshot()), '')
    })
  }
  const listener: EvictionListener = {
    start: ({ upstream }) => reportState(subscriber, upstream),
    onEvent: (event) => event.event === 'upstream' && reportState(subscriber, event.data),
    // The watch ends with the session or the console, and both close the page's socket.
    end: () => undefined,
  }
  const leaveBook = book.join(holder.api_key, send)
  watch.join(listener)
  return {
    leave: () => {
      watch.leave(listener)
      leaveBook()
    },
  }
}

const reportState = (subscriber: Subscriber, { state, retry_at_ms }: EvictionStreamState): void => {
  if (state === 'live') subscriber.state('live')
  else if (state === 'refused') subscriber.state('lost', refused)
  else subscriber.state('lost', { ...unreachable, ...(retry_at_ms !== undefined && { retry_at_ms }) })
}

const refused = { code: 'forbidden', status: 403, message: 'The service refuses the eviction stream for this key' }
const unreachable = { code: 'unreachable', status: 0, message: 'The eviction stream was interrupted' }
