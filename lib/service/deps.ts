import type { AxonEvents } from './axons/axon-events.ts'
import type { AxonSql } from './axons/axon-sql.ts'
import type { BenchmarkRuns } from './benchmarks/benchmark-runs.ts'
import type { Imports } from './benchmarks/import/imports.ts'
import type { Jobs } from './benchmarks/jobs.ts'
import type { LogArchives } from './benchmarks/log-archive.ts'
import type { ScenarioRuns } from './benchmarks/scenario-runs.ts'
import type { Devboxes } from './devboxes/devboxes.ts'
import type { Tunnels } from './devboxes/tunnels.ts'
import type { Drain } from './evictions/drain.ts'
import type { Evictions } from './evictions/evictions.ts'
import type { Executions } from './executions/executions.ts'
import type { Snapshots } from './snapshots/snapshots.ts'
import type { DevboxLogs } from './store/logs/logs.ts'
import type { StorageQuota } from './store/storage-quota.ts'
import type { Stores } from './store/stores.ts'
import type { Terminals } from './terminals/terminals.ts'
import type { TerminalTokens } from './terminals/tokens.ts'

export interface Deps {
  version: string
  isolation: 'bubblewrap' | 'none'
  now: () => number
  store: Stores
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
  imports: Imports
  quota: StorageQuota
}
