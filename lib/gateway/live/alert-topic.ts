import type { AlertItem } from '#lib/protocol/alerts.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { alertBookFor } from '../alerts/alert-books.ts'
import type { EvictionStreamState } from '../alerts/eviction-watch.ts'
import type { Subscriber } from './subscription.ts'

// Sends the account's alerts to one page until `leave()`. The topic's state is that of the eviction stream. A page that
// falls behind gets one snapshot in place of what it missed.
export const sendAlerts = (
  holder: KeyHolder,
  subscriber: Subscriber,
  person: string | null = null,
): { leave(): void } => {
  const book = alertBookFor(holder)
  let isBehind = false
  const onItem = (item: AlertItem) => {
    if (isBehind) return
    const room = subscriber.room()
    if (!room) return subscriber.data(textOf(item), '')
    isBehind = true
    void room.then(() => {
      isBehind = false
      subscriber.resync('')
      subscriber.data(textOf(book.snapshot()), '')
    })
  }
  return { leave: book.join(holder.api_key, { person, onItem, onStream: (stream) => reportState(subscriber, stream) }) }
}

/** The same item goes to every page of the account. */
const texts = new WeakMap<AlertItem, string>()
const textOf = (item: AlertItem): string => {
  const text = texts.get(item) ?? JSON.stringify(item)
  texts.set(item, text)
  return text
}

const reportState = (subscriber: Subscriber, { state, retry_at_ms }: EvictionStreamState): void => {
  if (state === 'live') subscriber.state('live')
  else if (state === 'refused') subscriber.state('lost', refused)
  else subscriber.state('lost', { ...unreachable, ...(retry_at_ms !== undefined && { retry_at_ms }) })
}

const refused = { code: 'forbidden', status: 403, message: 'The service rejected the eviction stream for this key' }
const unreachable = { code: 'unreachable', status: 0, message: 'The eviction stream was interrupted' }
