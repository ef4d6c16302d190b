import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import type { ScoringResult } from '#lib/contract/scenario-runs.ts'
import type { AgentRecord } from '#lib/service/domain/benchmark-jobs.ts'
import type { Outcome, Rewards } from '../outcome.ts'

/** A job that ran elsewhere, as its files tell it. */
export interface ForeignJob {
  /** The same for the same job, however often and from where it is imported. */
  identity: string
  name: string
  /** Times are null where they are unknown. */
  startedMs: number | null
  endedMs: number | null
  /** False when its files were copied while it was running. */
  hasEnded: boolean
  /** How many trials it was to have; null where the files do not say. */
  expectedTrials: number | null
  /** Reward key its own service judged it by. */
  judgedMetric?: string | null
  settings: Record<string, unknown> | null
  trials: ForeignTrial[]
  /** In the order its file names them, where it does; one may have no trial, and one that has may be missing. */
  agents?: readonly AgentConfig[]
  /** What could not be read, what was left out and what does not fit together, one sentence each. */
  warnings: { sentence: string; tasks: string[] }[]
}

export interface ForeignTrial {
  name: string
  agent: ForeignAgent
  task: ForeignTask
  /** Which of the attempts at its task, from 0; undefined where only the order in time tells. */
  attempt?: number
  startedMs: number | null
  endedMs: number | null
  rewards: Rewards | null
  /** What the scorers of this service found; of a trial without rewards. */
  scorers?: ScoringResult['scoring_function_results'] | null
  /** What it counts as when it is judged by this reward key. */
  judge: (metric: string | null) => Outcome
  warnings: string[]
  environmentDiffers: boolean
  record: AgentRecord | null
  /** Its log files. */
  logs: { from: string; path: string[] }[]
}

/** Its name is null where no file names it. */
export type ForeignAgent = Omit<AgentConfig, 'name'> & { name: string | null }

export interface ForeignTask {
  name: string
  /** The data set it came with. */
  source: string | null
  /** Of its content, as who ran it counted it. */
  checksum: string | null
  /** Of a scenario of this service, under its own id. */
  scenarioId?: string
}

const extreme = (times: readonly (number | null)[], of: (a: number, b: number) => number): number | null =>
  times.reduce((found, ms) => (found === null || ms === null ? (found ?? ms) : of(found, ms)), null)

/** Null where no time is known. */
export const earliest = (times: readonly (number | null)[]): number | null => extreme(times, Math.min)
export const latest = (times: readonly (number | null)[]): number | null => extreme(times, Math.max)

/** Files that cannot be read as a job at all. */
export class NoJobError extends Error {}
