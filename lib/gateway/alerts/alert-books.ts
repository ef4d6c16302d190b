import { setTimeout } from 'node:timers/promises'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import { devboxes } from '#lib/contract/devboxes.ts'
import { digestOf } from '../accounts/digest.ts'
import { personLabel } from '../accounts/person.ts'
import { sessionEndListeners } from '../accounts/session-cookie.ts'
import { verifyKey } from '../accounts/sign-in.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { logError } from '../observability/log.ts'
import type { ProxyHook } from '../proxy/proxy.ts'
import { registry, slot } from '../registry/registry.ts'
import { serviceIdentity, storedAccount } from '../upstream/client.ts'
import { AlertBook } from './alert-book.ts'
import { AlertStore } from './alert-store.ts'
import { configuredReceivers } from './delivery/configured-receivers.ts'
import { unseal } from './delivery/sealed-target.ts'

/** Alert books by account id, over one store. `accounts`: account ids by API key of a configured receiver. */
export const alerts = slot(
  'alerts',
  () => {
    const { config, service } = registry()
    sessionEndListeners().add(removePushOf)
    return {
      books: new Map<string, AlertBook>(),
      store: new AlertStore(config.dataDir),
      configured: configuredReceivers(config, () => service.ownKey()),
      accounts: new Map<string, string>(),
    }
  },
  ({ books, store }) => {
    for (const book of books.values()) book.close()
    store.close()
  },
)

/** A browser that has signed out gets no more push messages. */
const removePushOf = (sid: string): void => {
  const { store, books } = alerts()
  for (const { account, receiver } of store.outbox.receivers()) {
    if (receiver.push?.sid !== sid) continue
    const book = [...books].find(([id]) => storedAccount(id) === account)?.[1]
    if (book) book.receivers.remove(receiver.id)
    else store.outbox.deleteReceiver(account, receiver.id)
  }
}

export const storedAlerts = ({ account }: Pick<KeyHolder, 'account'>) => ({
  store: alerts().store,
  account: storedAccount(account.id),
})

export const alertBookFor = (holder: KeyHolder): AlertBook => {
  const { id } = holder.account
  const { config, origins } = registry()
  const { books, configured, accounts } = alerts()
  const isNewKey = accounts.get(holder.api_key) !== id && configured.some(({ apiKey }) => apiKey() === holder.api_key)
  if (isNewKey) accounts.set(holder.api_key, id)
  const found = books.get(id)
  if (found && isNewKey) found.receivers.refresh()
  if (found) return found
  const book = new AlertBook(holder, {
    ...storedAlerts(holder),
    configuredReceivers: () =>
      configured.filter(({ isForEveryAccount, apiKey }) => isForEveryAccount || accounts.get(apiKey() ?? '') === id),
    arePrivateReceiversAllowed: config.receivers.arePrivateAllowed,
    urlOf: (alertId) =>
      `${config.publicOrigins[0] ?? [...origins.values()][0] ?? ''}/evictions/${encodeURIComponent(alertId)}`,
  })
  books.set(id, book)
  return book
}

/** Pages that suspend, shut down or keep a devbox alive change its alerts. */
export const updateAlerts: ProxyHook = ({ endpoint, params: { id }, session, header }, response) => {
  if (!response.ok || id === undefined) return
  const book = alerts().books.get(session.account.id)
  if (endpoint.id === devboxes.keepAlive.id) book?.onKeepAlive(id)
  if (endpoint.id === devboxes.suspend.id) book?.stopDevbox(id, 'suspended', personLabel(session, header))
  if (endpoint.id === devboxes.shutdown.id) book?.stopDevbox(id, 'shut down', personLabel(session, header))
}

/** Watches every account that has receivers, even with no page open. Retries until `signal` aborts. */
export const startReceivers = async (signal: AbortSignal): Promise<void> => {
  const { store, configured } = alerts()
  const stored = store.outbox
    .receivers()
    .filter(({ account }) => account.startsWith(storedAccount('')))
    .filter(({ receiver: { push } }) => push === undefined || push.expires_ms > Date.now())
  const opened = await Promise.all(stored.map(({ receiver }) => unseal(receiver.sealed)))
  for (const [index, { receiver }] of stored.entries())
    if (!opened[index] && !receiver.push)
      logError(`Receiver ${receiver.name} was sealed with another session secret; enter its URL again`)
  const keys = [...configured.map(({ apiKey }) => apiKey()), ...opened.map((target) => target?.api_key)]
  await Promise.all([...new Set(keys)].map((key) => key !== undefined && watchAccount(key, signal)))
}

/** Waits for requests in progress, so that a restart doesn't repeat them. */
export const stopReceivers = async (): Promise<void> => {
  const books = [...alerts().books.values()]
  await Promise.race([Promise.all(books.map(({ receivers }) => receivers.stop())), setTimeout(stopMs)])
}

/** Leaves the alerts to another console. */
export const dropAlertBooks = async (): Promise<void> => {
  await stopReceivers()
  const { books } = alerts()
  for (const book of books.values()) book.close()
  books.clear()
}

const stopMs = 2_000

const watchAccount = async (api_key: string, signal: AbortSignal): Promise<void> => {
  const { store } = alerts()
  const keyDigest = digestOf(`${serviceIdentity()} ${api_key}`)
  const known = store.watchedAccount(keyDigest)
  // Watches right away: if the service is down, receivers must be notified.
  if (known) alertBookFor({ account: known, api_key }).stay(api_key)
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const account = await verifyKey(api_key)
      if (signal.aborted) return
      store.setWatchedAccount(keyDigest, account)
      return alertBookFor({ account, api_key }).stay(api_key)
    } catch (error) {
      if (attempt === 0) logError(`Receivers get no alerts until the service responds: ${(error as Error).message}`)
      await pause(backoffMs(attempt, { firstMs: 1_000, maxMs: 45_000 }), signal)
    }
  }
}
