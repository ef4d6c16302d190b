import { ApiError } from '#lib/client/api-error.ts'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import { devboxes } from '#lib/contract/devboxes.ts'
import { verifyKey } from '../accounts/sign-in.ts'
import { type KeyHolder, type Session, sessionLabel } from '../accounts/types.ts'
import { registry } from '../registry/registry.ts'
import { clientFor, serviceIdentity } from '../upstream/client.ts'
import { serviceNow } from '../upstream/clock.ts'
import { AlertBook, type DevboxFacts } from './alert-book.ts'
import { lastStop } from './alert-rules.ts'
import { AlertStore } from './alert-store.ts'
import { evictionWatchesOf, evictionWatchFor } from './eviction-watch.ts'
import { Webhook } from './webhook.ts'

/** How long a call to the service may take that a page or an alert waits for. */
export const callTimeoutMs = 10_000

/** What the console keeps of an account's alerts, opened with the first who asks for it. */
export const alertBookFor = ({ account, api_key }: KeyHolder): AlertBook => {
  const { alertBooks, config } = registry()
  const found = alertBooks.get(account.id)
  if (found) return found
  const book = new AlertBook(api_key, {
    account: { id: `${serviceIdentity()} ${account.id}`, name: account.name },
    store: storeOf(),
    now: serviceNow,
    describe,
    client: (apiKey) => clientFor(apiKey, callTimeoutMs),
    watchFor: (apiKey) => evictionWatchFor({ account, api_key: apiKey }),
    webhook: config.webhook && new Webhook(config.webhook, { id: account.id, name: account.name }, serviceNow),
    urlOf: (id) => `${config.publicOrigins[0] ?? [...registry().origins.values()][0] ?? ''}${alertPath(id)}`,
  })
  alertBooks.set(account.id, book)
  return book
}

const alertPath = (id: string) => `/evictions?alert=${encodeURIComponent(id)}`

const storeOf = (): AlertStore => {
  const shared = registry()
  shared.alertStore ??= new AlertStore(shared.config.dataDir)
  return shared.alertStore
}

const describe = async (apiKey: string, id: string): Promise<DevboxFacts | undefined> => {
  try {
    const devbox = await clientFor(apiKey, callTimeoutMs).devboxes.get({ params: { id } })
    const { name = null, metadata, status, state_transitions, initiator_type, initiator_id } = devbox
    return {
      name,
      metadata,
      // A record without a status does not say what became of the devbox.
      status: status || undefined,
      stop: lastStop(state_transitions),
      scenario_run_id: (initiator_type === 'scenario' && initiator_id) || undefined,
    }
  } catch (error) {
    return error instanceof ApiError && error.status === 404 ? gone : undefined
  }
}
const gone = { name: null, metadata: {}, status: 'shutdown' }

/** Somebody suspended or shut down the devbox through the console, which withdraws its eviction unreported. */
export const onDevboxStopped = (session: Session, operation: string, devboxId: string): void => {
  const how = operation === devboxes.suspend.id ? 'suspended' : 'shut down'
  registry().alertBooks.get(session.account.id)?.stopDevbox(devboxId, how, sessionLabel(session))
  for (const hub of evictionWatchesOf(session.account.id)) hub.withdraw(devboxId)
}

/** A call through the console started the devbox's keep-alive time anew. */
export const onKeepAlive = (accountId: string, devboxId: string): void =>
  registry().alertBooks.get(accountId)?.onKeepAlive(devboxId)

/** Sends alerts to the webhook with no page open, until `signal` aborts. Retries every minute, whatever the answer. */
export const startWebhook = async (signal: AbortSignal): Promise<void> => {
  const { config, service } = registry()
  const api_key = config.webhook && (config.webhook.apiKey ?? service.ownKey())
  if (!api_key) return
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const account = await verifyKey(api_key)
      return alertBookFor({ account, api_key }).stay(api_key)
    } catch (error) {
      if (attempt === 0) console.error(`The webhook waits for the service: ${(error as Error).message}`)
      await pause(backoffMs(attempt, { firstMs: 1_000, maxMs: 45_000 }), signal)
    }
  }
}

export const closeAlerts = (): void => {
  const { alertBooks } = registry()
  for (const book of alertBooks.values()) book.close()
  alertBooks.clear()
  registry().alertStore?.close()
  registry().alertStore = undefined
}
