import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import type { ScoringResult } from '#lib/contract/scenario-runs.ts'
import type { AgentRecord } from '#lib/service/domain/benchmark-jobs.ts'
import type { Outcome, Rewards } from '../outcome.ts'

export interface ForeignJob {
  /** The same for each import of the same job. */
  identity: string
  name: string
  startedMs: number | null
  endedMs: number | null
  /** False if the files were copied while it was running. */
  hasEnded: boolean
  expectedTrials: number | null
  judgedMetric?: string | null
  settings: Record<string, unknown> | null
  trials: ForeignTrial[]
  agents?: readonly AgentConfig[]
  warnings: { sentence: string; tasks: string[] }[]
}

export interface ForeignTrial {
  name: string
  agent: ForeignAgent
  task: ForeignTask
  /** From 0; undefined if only the start times give the order. */
  attempt?: number
  startedMs: number | null
  endedMs: number | null
  rewards: Rewards | null
  scorers?: ScoringResult['scoring_function_results'] | null
  judge: (metric: string | null) => Outcome
  warnings: string[]
  environmentDiffers: boolean
  engine: string | null
  record: AgentRecord | null
  logs: { from: string; path: string[] }[]
  /** The folder with exactly these logs, which can be moved whole. */
  logFolder?: string
}

export type ForeignAgent = Omit<AgentConfig, 'name'> & { name: string | null }

export interface ForeignTask {
  name: string
  source: string | null
  checksum: string | null
  scenarioId?: string
}

const extreme = (times: readonly (number | null)[], of: (a: number, b: number) => number): number | null =>
  times.reduce((found, ms) => (found === null || ms === null ? (found ?? ms) : of(found, ms)), null)

export const earliest = (times: readonly (number | null)[]): number | null => extreme(times, Math.min)
export const latest = (times: readonly (number | null)[]): number | null => extreme(times, Math.max)

export class NoJobError extends Error {}
