import { createAgentStore } from './agents.ts'
import { createAxonStore } from './axons/axons.ts'
import { createAxonEventStore } from './axons/events.ts'
import { createBenchmarkJobStore } from './benchmark-jobs.ts'
import { createBenchmarkRunStore } from './benchmark-runs.ts'
import { createBenchmarkStore } from './benchmarks.ts'
import { createBlueprintStore } from './blueprints.ts'
import type { Database } from './database.ts'
import { createDevboxStore } from './devboxes.ts'
import { createKeyStore } from './keys.ts'
import { createNetworkPolicyStore } from './network-policies.ts'
import { createObjectStore } from './objects.ts'
import { createGatewayConfigStore, createMcpConfigStore } from './proxy-configs.ts'
import { createScenarioRunStore } from './scenario-runs.ts'
import { createScenarioStore } from './scenarios.ts'
import { createScorerStore } from './scorers.ts'
import { createSecretStore } from './secrets.ts'
import { createSnapshotStore } from './snapshots.ts'

export type Stores = ReturnType<typeof createStores>

export const createStores = (database: Database, secretsKeyFile: string) => {
  const benchmarkRuns = createBenchmarkRunStore(database)
  return {
    axons: createAxonStore(database),
    axonEvents: createAxonEventStore(database),
    devboxes: createDevboxStore(database),
    keys: createKeyStore(database),
    secrets: createSecretStore(database, secretsKeyFile),
    networkPolicies: createNetworkPolicyStore(database),
    objects: createObjectStore(database),
    agents: createAgentStore(database),
    gatewayConfigs: createGatewayConfigStore(database),
    mcpConfigs: createMcpConfigStore(database),
    snapshots: createSnapshotStore(database),
    blueprints: createBlueprintStore(database),
    benchmarks: createBenchmarkStore(database),
    scenarios: createScenarioStore(database),
    scorers: createScorerStore(database),
    scenarioRuns: createScenarioRunStore(database),
    benchmarkRuns,
    benchmarkJobs: createBenchmarkJobStore(database, benchmarkRuns),
  }
}
