import { ApiError } from '#lib/client/api-error.ts'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import { devboxes } from '#lib/contract/devboxes.ts'
import { verifyKey } from '../accounts/sign-in.ts'
import { type KeyHolder, sessionLabel } from '../accounts/types.ts'
import type { ProxyHook } from '../proxy/proxy.ts'
import { registry, slot } from '../registry/registry.ts'
import { clientFor, serviceIdentity } from '../upstream/client.ts'
import { serviceNow } from '../upstream/clock.ts'
import { AlertBook, type DevboxFacts } from './alert-book.ts'
import { lastStop } from './alert-rules.ts'
import { AlertStore } from './alert-store.ts'
import { evictionWatchesOf, evictionWatchFor } from './eviction-watch.ts'
import { Webhook } from './webhook.ts'

export const callTimeoutMs = 10_000

/** Alert books by account id, over one store. */
export const alerts = slot(
  'alerts',
  () => ({ books: new Map<string, AlertBook>(), store: new AlertStore(registry().config.dataDir) }),
  ({ books, store }) => {
    for (const book of books.values()) book.close()
    store.close()
  },
)

export const alertBookFor = ({ account, api_key }: KeyHolder): AlertBook => {
  const { config } = registry()
  const { books, store } = alerts()
  const found = books.get(account.id)
  if (found) return found
  const book = new AlertBook(api_key, {
    account: { id: `${serviceIdentity()} ${account.id}`, name: account.name },
    store,
    now: serviceNow,
    describe,
    client: (apiKey) => clientFor(apiKey, callTimeoutMs),
    watchFor: (apiKey) => evictionWatchFor({ account, api_key: apiKey }),
    webhook: config.webhook && new Webhook(config.webhook, { id: account.id, name: account.name }, serviceNow),
    urlOf: (id) => `${config.publicOrigins[0] ?? [...registry().origins.values()][0] ?? ''}${alertPath(id)}`,
  })
  books.set(account.id, book)
  return book
}

const alertPath = (id: string) => `/evictions?alert=${encodeURIComponent(id)}`

const describe = async (apiKey: string, id: string): Promise<DevboxFacts | undefined> => {
  try {
    const devbox = await clientFor(apiKey, callTimeoutMs).devboxes.get({ params: { id } })
    const { name = null, metadata, status, state_transitions, initiator_type, initiator_id } = devbox
    return {
      name,
      metadata,
      status: status || undefined,
      stop: lastStop(state_transitions),
      scenario_run_id: (initiator_type === 'scenario' && initiator_id) || undefined,
    }
  } catch (error) {
    return error instanceof ApiError && error.status === 404 ? removed : undefined
  }
}

const removed = { name: null, metadata: {}, status: 'shutdown' }

/** Pages that suspend, shut down or keep a devbox alive change its alerts. */
export const updateAlerts: ProxyHook = ({ endpoint, params: { id }, session }, response) => {
  if (!response.ok || id === undefined) return
  const book = alerts().books.get(session.account.id)
  if (endpoint.id === devboxes.keepAlive.id) book?.onKeepAlive(id)
  if (endpoint.id !== devboxes.suspend.id && endpoint.id !== devboxes.shutdown.id) return
  book?.stopDevbox(id, endpoint.id === devboxes.suspend.id ? 'suspended' : 'shut down', sessionLabel(session))
  // The service withdraws the eviction without reporting it.
  for (const watch of evictionWatchesOf(session.account.id)) watch.withdraw(id)
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
