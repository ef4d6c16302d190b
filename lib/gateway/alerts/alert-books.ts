import { ApiError } from '#lib/client/api-error.ts'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import type { KeyHolder } from '../accounts/signed-in.ts'
import { evictionHubFor } from '../evictions/hub.ts'
import { serviceNow } from '../http/service-clock.ts'
import { clientFor, serviceIdentity } from '../http/upstream.ts'
import { registry } from '../registry.ts'
import { AlertBook, type DevboxFacts } from './alert-book.ts'
import { AlertStore } from './alert-store.ts'
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
    watchFor: (apiKey) => evictionHubFor({ account, api_key: apiKey }),
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
    const { name = null, metadata, status, initiator_type, initiator_id } = devbox
    // A record without a status says nothing of what became of it.
    return {
      name,
      metadata,
      status: status || undefined,
      scenario_run_id: (initiator_type === 'scenario' && initiator_id) || undefined,
    }
  } catch (error) {
    return error instanceof ApiError && error.status === 404 ? gone : undefined
  }
}
const gone = { name: null, metadata: {}, status: 'shutdown' }

/** A call through the console started the devbox's keep-alive time anew. */
export const keptAlive = (accountId: string, devboxId: string): void =>
  registry().alertBooks.get(accountId)?.keptAlive(devboxId)

/** Has the webhook told of alerts with no page open, from now on until `signal` aborts. */
export const watchForWebhook = async (signal: AbortSignal): Promise<void> => {
  const { config, service } = registry()
  const api_key = config.webhook && (config.webhook.apiKey ?? service.ownKey())
  if (!api_key) return
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const account = await clientFor(api_key, callTimeoutMs).accounts.me()
      return alertBookFor({ account, api_key }).stay(api_key)
    } catch (error) {
      if (attempt === 0) console.error(`The webhook waits for the service: ${(error as Error).message}`)
      await pause(backoffMs(attempt, { firstMs: 1_000, maxMs: 60_000 }), signal)
    }
  }
}

export const endAlerts = (): void => {
  const { alertBooks } = registry()
  for (const book of alertBooks.values()) book.close()
  alertBooks.clear()
  registry().alertStore?.close()
  registry().alertStore = undefined
}
