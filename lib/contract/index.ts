import { accounts } from './accounts.ts'
import { agents } from './agents.ts'
import { axons } from './axons.ts'
import { benchmarkJobs } from './benchmark-jobs.ts'
import { benchmarkRuns } from './benchmark-runs.ts'
import { benchmarks } from './benchmarks.ts'
import { blueprints } from './blueprints.ts'
import { cluster } from './cluster.ts'
import { devboxes } from './devboxes.ts'
import { drain } from './drain.ts'
import type { Endpoint } from './endpoint.ts'
import { evictions } from './evictions.ts'
import { executions } from './executions.ts'
import { files } from './files.ts'
import { gatewayConfigs } from './gateway-configs.ts'
import { health } from './health.ts'
import { hostedOnly } from './hosted-only.ts'
import { keys } from './keys.ts'
import { logs } from './logs.ts'
import { mcpConfigs } from './mcp-configs.ts'
import { networkPolicies } from './network-policies.ts'
import { objects } from './objects.ts'
import { scenarioRuns } from './scenario-runs.ts'
import { scenarios } from './scenarios.ts'
import { secrets } from './secrets.ts'
import { snapshots } from './snapshots.ts'
import { storage } from './storage.ts'
import { terminals } from './terminals.ts'
import { tunnels } from './tunnels.ts'

/** Every resource of the service and its operations. Paths with a fixed segment come before those with a parameter. */
export const contract = {
  health,
  accounts,
  storage,
  axons,
  evictions,
  snapshots,
  blueprints,
  devboxes,
  executions,
  files,
  logs,
  tunnels,
  terminals,
  secrets,
  keys,
  networkPolicies,
  objects,
  agents,
  gatewayConfigs,
  mcpConfigs,
  scenarioRuns,
  scenarios,
  benchmarkJobs,
  benchmarkRuns,
  benchmarks,
  hostedOnly,
  drain,
  cluster,
}
export type Contract = typeof contract

export const endpoints: readonly Endpoint[] = Object.values(contract).flatMap((resource) => Object.values(resource))
