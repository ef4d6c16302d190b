import { backoffMs, pause } from '#lib/client/backoff.ts'
import { devboxes } from '#lib/contract/devboxes.ts'
import { personLabel } from '../accounts/person.ts'
import { verifyKey } from '../accounts/sign-in.ts'
import type { KeyHolder } from '../accounts/types.ts'
import type { ProxyHook } from '../proxy/proxy.ts'
import { registry, slot } from '../registry/registry.ts'
import { serviceIdentity } from '../upstream/client.ts'
import { serviceNow } from '../upstream/clock.ts'
import { AlertBook } from './alert-book.ts'
import { AlertStore } from './alert-store.ts'
import { Webhook } from './webhook.ts'

/** Alert books by account id, over one store. */
export const alerts = slot(
  'alerts',
  () => ({ books: new Map<string, AlertBook>(), store: new AlertStore(registry().config.dataDir) }),
  ({ books, store }) => {
    for (const book of books.values()) book.close()
    store.close()
  },
)

/** The stored alerts of an account of this service. */
export const storedAlerts = ({ account: { id } }: Pick<KeyHolder, 'account'>) => ({
  store: alerts().store,
  account: `${serviceIdentity()} ${id}`,
})

export const alertBookFor = (holder: KeyHolder): AlertBook => {
  const { id, name } = holder.account
  const { config, origins } = registry()
  const { books } = alerts()
  const found = books.get(id)
  if (found) return found
  const book = new AlertBook(holder, {
    ...storedAlerts(holder),
    webhook: config.webhook && new Webhook(config.webhook, { id, name }, serviceNow),
    urlOf: (alertId) =>
      `${config.publicOrigins[0] ?? [...origins.values()][0] ?? ''}/evictions?alert=${encodeURIComponent(alertId)}`,
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

/** Sends alerts to the webhook even with no page open. Retries every minute, whatever the error, until `signal` aborts. */
export const startWebhook = async (signal: AbortSignal): Promise<void> => {
  const { config, service } = registry()
  const api_key = config.webhook && (config.webhook.apiKey ?? service.ownKey())
  if (!api_key) return
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const account = await verifyKey(api_key)
      return alertBookFor({ account, api_key }).stay(api_key)
    } catch (error) {
      if (attempt === 0) console.error(`The webhook is waiting for the service: ${(error as Error).message}`)
      await pause(backoffMs(attempt, { firstMs: 1_000, maxMs: 45_000 }), signal)
    }
  }
}
