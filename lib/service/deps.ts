import type { AxonEvents } from './axons/axon-events.ts'
import type { AxonSql } from './axons/axon-sql.ts'
import type { BenchmarkRuns } from './benchmarks/benchmark-runs.ts'
import type { Jobs } from './benchmarks/jobs.ts'
import type { LogArchives } from './benchmarks/log-archive.ts'
import type { ScenarioRuns } from './benchmarks/scenario-runs.ts'
import type { Devboxes } from './devboxes/devboxes.ts'
import type { Snapshots } from './devboxes/snapshots.ts'
import type { Tunnels } from './devboxes/tunnels.ts'
import type { Drain } from './evictions/drain.ts'
import type { Evictions } from './evictions/evictions.ts'
import type { Executions } from './executions/executions.ts'
import type { AxonStore } from './store/axons/axons.ts'
import type { AxonEventStore } from './store/axons/events.ts'
import type { BenchmarkJobStore } from './store/benchmark-jobs.ts'
import type { BenchmarkRunStore } from './store/benchmark-runs.ts'
import type { BenchmarkStore } from './store/benchmarks.ts'
import type { DevboxStore } from './store/devboxes.ts'
import type { DevboxLogs } from './store/logs.ts'
import type { NetworkPolicyStore } from './store/network-policies.ts'
import type { ScenarioRunStore } from './store/scenario-runs.ts'
import type { ScenarioStore } from './store/scenarios.ts'
import type { ScorerStore } from './store/scorers.ts'
import type { SecretStore } from './store/secrets.ts'
import type { SnapshotStore } from './store/snapshots.ts'
import type { Terminals } from './terminals/terminals.ts'
import type { TerminalTokens } from './terminals/tokens.ts'

/** What routes work with. Made once per service, in `service.ts`. */
export interface Deps {
  version: string
  /** How devboxes are kept apart from this machine. */
  isolation: 'bubblewrap' | 'none'
  /** Milliseconds since the epoch. */
  now: () => number
  store: {
    axons: AxonStore
    axonEvents: AxonEventStore
    devboxes: DevboxStore
    secrets: SecretStore
    networkPolicies: NetworkPolicyStore
    snapshots: SnapshotStore
    benchmarks: BenchmarkStore
    scenarios: ScenarioStore
    scorers: ScorerStore
    scenarioRuns: ScenarioRunStore
    benchmarkRuns: BenchmarkRunStore
    benchmarkJobs: BenchmarkJobStore
  }
  axonEvents: AxonEvents
  axonSql: AxonSql
  devboxes: Devboxes
  executions: Executions
  snapshots: Snapshots
  logs: DevboxLogs
  terminals: Terminals
  tunnels: Tunnels
  ptyTokens: TerminalTokens
  evictions: Evictions
  drain: Drain
  scenarioRuns: ScenarioRuns
  benchmarkRuns: BenchmarkRuns
  logArchives: LogArchives
  jobs: Jobs
}
