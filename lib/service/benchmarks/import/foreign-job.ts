import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import type { AgentRecord } from '#lib/service/domain/benchmark-jobs.ts'
import type { Outcome } from '../outcome.ts'

/** A job that ran elsewhere, as its files tell it. */
export interface ForeignJob {
  /** The same for the same job, however often and from where it is imported. */
  identity: string
  name: string
  startedMs: number
  /** Null when it had not ended when its files were copied. */
  endedMs: number | null
  /** How many trials it was to have, where the files tell. */
  expectedTrials: number | null
  trials: ForeignTrial[]
  /** In the order its file names them, where it does; one may have no trial, and one that has may be missing. */
  agents?: readonly AgentConfig[]
  /** What could not be read, what was left out and what does not fit together, one sentence each. */
  warnings: { sentence: string; tasks: string[] }[]
}

export interface ForeignTrial {
  name: string
  agent: AgentConfig
  task: ForeignTask
  /** Which of the attempts at its task, from 0; undefined where only the order in time tells. */
  attempt?: number
  startedMs: number
  endedMs: number
  outcome: Outcome
  warnings: string[]
  environmentDiffers: boolean
  record: AgentRecord | null
  /** Its log files. */
  logs: { from: string; path: string[] }[]
}

export interface ForeignTask {
  name: string
  /** The data set it came with. */
  source: string | null
  /** Of its content, as who ran it counted it. */
  checksum: string | null
  /** Of a scenario of this service, under its own id. */
  scenarioId?: string
}

/** Files that cannot be read as a job at all. */
export class NoJobError extends Error {}
