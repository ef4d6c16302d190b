import type { Contract } from '#lib/contract/index.ts'
import type { Route } from '#lib/service/http/implement.ts'
import type { Deps } from '#lib/service/parts.ts'
import { accountRoutes } from './accounts.ts'
import { axonRoutes } from './axons.ts'
import { benchmarkJobRoutes } from './benchmark-jobs.ts'
import { benchmarkRunRoutes } from './benchmark-runs.ts'
import { benchmarkRoutes } from './benchmarks.ts'
import { devboxRoutes } from './devboxes.ts'
import { drainRoutes } from './drain.ts'
import { evictionRoutes } from './evictions.ts'
import { executionRoutes } from './executions.ts'
import { fileRoutes } from './files.ts'
import { healthRoutes } from './health.ts'
import { hostedOnlyRoutes } from './hosted-only.ts'
import { logRoutes } from './logs.ts'
import { networkPolicyRoutes } from './network-policies.ts'
import { scenarioRunRoutes } from './scenario-runs.ts'
import { scenarioRoutes } from './scenarios.ts'
import { secretRoutes } from './secrets.ts'
import { snapshotRoutes } from './snapshots.ts'
import { terminalRoutes } from './terminals.ts'
import { tunnelRoutes } from './tunnels.ts'

export const contractRoutes = (deps: Deps): Route[] => Object.values(routesOf(deps)).flat()

/** The type requires exactly the resources of the contract. */
const routesOf = (deps: Deps): Record<keyof Contract, Route[]> => ({
  health: healthRoutes(deps),
  accounts: accountRoutes(deps),
  axons: axonRoutes(deps),
  evictions: evictionRoutes(deps),
  snapshots: snapshotRoutes(deps),
  devboxes: devboxRoutes(deps),
  executions: executionRoutes(deps),
  files: fileRoutes(deps),
  logs: logRoutes(deps),
  tunnels: tunnelRoutes(deps),
  terminals: terminalRoutes(deps),
  secrets: secretRoutes(deps),
  networkPolicies: networkPolicyRoutes(deps),
  scenarioRuns: scenarioRunRoutes(deps),
  scenarios: scenarioRoutes(deps),
  benchmarkJobs: benchmarkJobRoutes(deps),
  benchmarkRuns: benchmarkRunRoutes(deps),
  benchmarks: benchmarkRoutes(deps),
  hostedOnly: hostedOnlyRoutes(),
  drain: drainRoutes(deps),
})
