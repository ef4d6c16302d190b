import { setTimeout as wait } from 'node:timers/promises'
import { accounts } from '#lib/contract/accounts.ts'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { Health, health } from '#lib/contract/health.ts'
import { contract, endpoints } from '#lib/contract/index.ts'
import { isExtension, type Support } from '#lib/protocol/support.ts'
import { registry } from '../registry/registry.ts'
import { bearer } from '../upstream/client.ts'
import { judge } from './judge.ts'

const answerMs = 10_000
/** Between probes, so that they don't compete with the first page. */
const pauseMs = 50
const maxRetryAfterMs = 5_000

export const probed: readonly Endpoint[] = [
  contract.devboxes.list,
  contract.snapshots.list,
  contract.axons.list,
  contract.blueprints.list,
  contract.benchmarkJobs.list,
  contract.benchmarkRuns.list,
  contract.benchmarks.list,
  contract.scenarios.list,
  contract.secrets.list,
  contract.agents.list,
  contract.objects.list,
  contract.networkPolicies.list,
  contract.gatewayConfigs.list,
  contract.mcpConfigs.list,
  contract.devboxes.metadataKeys,
  contract.axons.metadataKeys,
]

const send = (path: string, headers: Record<string, string> = {}) =>
  fetch(registry().service.url() + path, {
    headers: { accept: 'application/json', ...headers },
    redirect: 'manual',
    cache: 'no-store',
    signal: AbortSignal.timeout(answerMs),
  })

export interface HealthReport {
  version: string | null
  /** Undefined if the service doesn't list its operations. */
  operations: Record<string, Support> | undefined
}

/** Throws if the service doesn't respond. */
export const readHealth = async (): Promise<HealthReport> => {
  const response = await send(health.check.path)
  const report = response.ok ? Health.safeParse(await response.json().catch(() => undefined)).data : undefined
  if (!response.ok) await response.body?.cancel()
  const listed = report?.operations
  return {
    version: report?.version ?? null,
    operations:
      listed && Object.fromEntries(endpoints.map(({ id }) => [id, listed.includes(id) ? 'yes' : ('no' as Support)])),
  }
}

/** Extensions that a service without a list of operations is assumed to lack. */
export const withoutExtensions = (): Record<string, Support> =>
  Object.fromEntries(endpoints.filter(({ id }) => isExtension(id)).map(({ id }) => [id, 'no']))

/** Reads one row of each list. Throws if the key is refused. */
export const probeLists = async (
  apiKey: string,
  onResult: (endpoint: Endpoint, support: 'yes' | 'no') => void,
  signal: AbortSignal,
): Promise<void> => {
  const read = async (endpoint: Endpoint, query: string): Promise<number> => {
    for (let attempt = 0; ; attempt++) {
      const response = await send(endpoint.path + query, bearer(apiKey)).catch(() => undefined)
      await response?.body?.cancel()
      if (response?.status !== 429 || attempt > 0) return response?.status ?? 503
      const seconds = Number(response.headers.get('retry-after') ?? 1)
      await wait(Math.min(maxRetryAfterMs, (Number.isFinite(seconds) ? seconds : 1) * 1000), undefined, { signal })
    }
  }
  const own = await read(accounts.me, '')
  if (own === 401 || own === 403) throw new Error(`The service refused the key (${own})`)
  let isAccepted = own < 300
  const missing = new Set<Endpoint>()
  for (const endpoint of probed) {
    await wait(pauseMs, undefined, { signal })
    const status = await read(endpoint, endpoint.query ? '?limit=1' : '')
    if (status < 300) isAccepted = true
    const support = judge(endpoint, status === 401 && isAccepted ? 501 : status)
    if (support === 'no') missing.add(endpoint)
    if (support === 'yes' || support === 'no') onResult(endpoint, support)
  }
  // A service that lists the metadata keys of neither is assumed to list none at all.
  const { devboxes, axons } = contract
  if (missing.has(devboxes.metadataKeys) && missing.has(axons.metadataKeys))
    for (const endpoint of endpoints) if (endpoint.path.includes('/metadata/keys')) onResult(endpoint, 'no')
}
