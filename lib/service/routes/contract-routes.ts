import { type Contract, contract } from '#lib/contract/index.ts'
import { implement, notImplemented, type Route } from '#lib/service/http/implement.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'
import { agentRoutes } from './agents.ts'
import { axonRoutes } from './axons.ts'
import { benchmarkJobRoutes } from './benchmark-jobs.ts'
import { benchmarkRunRoutes } from './benchmark-runs.ts'
import { benchmarkRoutes } from './benchmarks.ts'
import { blueprintRoutes } from './blueprints.ts'
import { clusterRoutes } from './cluster.ts'
import { devboxRoutes } from './devboxes.ts'
import { evictionRoutes } from './evictions.ts'
import { executionRoutes } from './executions.ts'
import { fileRoutes } from './files.ts'
import { hostedOnlyRoutes } from './hosted-only.ts'
import { keyRoutes } from './keys.ts'
import { logRoutes } from './logs.ts'
import { networkPolicyRoutes } from './network-policies.ts'
import { objectRoutes } from './objects.ts'
import { gatewayConfigRoutes, mcpConfigRoutes } from './proxy-configs.ts'
import { scenarioRunRoutes } from './scenario-runs.ts'
import { scenarioRoutes } from './scenarios.ts'
import { secretRoutes } from './secrets.ts'
import { snapshotRoutes } from './snapshots.ts'
import { terminalRoutes } from './terminals.ts'

export const contractRoutes = (deps: Deps): Route[] => {
  const operations: string[] = []
  const routes = Object.values(routesOf(deps, operations)).flat()
  for (const { endpoint, handler } of routes) {
    const isOffered = endpoint.id !== contract.blueprints.create.id || deps.canBuildBlueprints
    if (isOffered && handler !== notImplemented && !endpoint.id.startsWith('hostedOnly.')) operations.push(endpoint.id)
  }
  return routes
}

/** The type requires exactly the resources of the contract. */
const routesOf = (deps: Deps, operations: readonly string[]): Record<keyof Contract, Route[]> => ({
  health: implement(contract.health, {
    check: () => ({ status: 'ok' as const, version: deps.version, operations: [...operations] }),
  }),
  accounts: implement(contract.accounts, {
    me: ({ account: id }) => ({
      id,
      name: id,
      // Unspecified: an account is only a name, so this is when the database was created.
      created_at: new Date(deps.createdAtMs).toISOString(),
      account_status: 'ACCOUNT_STATUS_ENABLED',
      tier: 'UNRECOGNIZED',
      billing: { account_billing_type: 'UNRECOGNIZED' },
      isolation: deps.isolation,
    }),
  }),
  storage: implement(contract.storage, {
    get: ({ account }) => {
      const { stored, limitBytes } = deps.quota.of(account)
      return {
        stored_bytes: Object.fromEntries(
          Object.entries(stored).map(([kind, bytes]) => [kind.replace(' ', '_'), bytes ?? 0]),
        ),
        limit_bytes: limitBytes ?? null,
        keep_ended_seconds: deps.retention.keepSeconds || null,
      }
    },
    prune: ({ body }) => {
      const olderThanSeconds = body.older_than_seconds ?? deps.retention.keepSeconds
      if (olderThanSeconds === 0 && body.older_than_seconds === undefined)
        throw new ServiceError('invalid_argument', 'The service keeps everything, so older_than_seconds is required', {
          field: 'older_than_seconds',
        })
      return deps.retention.prune({ olderThanSeconds, dryRun: body.dry_run ?? false })
    },
    deleteEnded: ({ account, body }) => deps.retention.delete(account, body),
  }),
  axons: axonRoutes(deps),
  evictions: evictionRoutes(deps),
  snapshots: snapshotRoutes(deps),
  blueprints: blueprintRoutes(deps),
  devboxes: devboxRoutes(deps),
  executions: executionRoutes(deps),
  files: fileRoutes(deps),
  logs: logRoutes(deps),
  tunnels: implement(contract.tunnels, {
    enable: ({ params, body, account }) => deps.tunnels.enable(account, params.id, body),
    remove: ({ params, account }) => {
      deps.tunnels.remove(account, params.id)
      return {}
    },
  }),
  terminals: terminalRoutes(deps),
  secrets: secretRoutes(deps),
  keys: keyRoutes(deps),
  networkPolicies: networkPolicyRoutes(deps),
  objects: objectRoutes(deps),
  agents: agentRoutes(deps),
  gatewayConfigs: gatewayConfigRoutes(deps),
  mcpConfigs: mcpConfigRoutes(deps),
  scenarioRuns: scenarioRunRoutes(deps),
  scenarios: scenarioRoutes(deps),
  benchmarkJobs: benchmarkJobRoutes(deps),
  benchmarkRuns: benchmarkRunRoutes(deps),
  benchmarks: benchmarkRoutes(deps),
  hostedOnly: hostedOnlyRoutes(),
  cluster: clusterRoutes(deps),
  drain: implement(contract.drain, {
    stop({ body }) {
      const running = deps.plannedStop.start(body.wait_seconds)
      return { deadline_ms: deps.now() + body.wait_seconds * 1000, running }
    },
    pending: () => ({ running: deps.plannedStop.pending() }),
    cancel: () => ({ canceled: deps.plannedStop.cancel() }),
    state: ({ account }) => deps.plannedStop.state(account),
    start: ({ body }) => {
      const eviction_deadline_ms = deps.now() + body.deadline_seconds * 1000
      return { eviction_deadline_ms, devboxes: deps.drain.start(eviction_deadline_ms, 'schedule') }
    },
  }),
})
