import type {
  AgentFigures,
  AgentIdentity,
  ComparedPair,
  FailureRule,
  Judgement,
  PairFigures,
  ScenarioChange,
  ScoreScale,
} from '#lib/statistics/figures.ts'

export type { AgentFigures, AgentIdentity, ComparedPair, FailureRule, PairFigures, ScenarioChange, ScoreScale }

export type ReportFormat = 'json' | 'csv' | 'md'

/** Table of a CSV report. */
export type ReportTable = 'agents' | 'pairs' | 'excluded_scenarios'

export interface ReportedJob {
  id: string
  name: string
  state: string
  create_time_ms: number | null
  /** Plan per agent; null if the job does not report it. */
  planned_scenarios: number | null
  planned_attempts: number | null
  /** Reward key of the scores; null for the service's own scorers. */
  metric: string | null
}

interface JudgedMetric {
  /** Reward key of all scores; null for the service's own scorers or mixed keys. */
  metric: string | null
  /** Keys the reader can choose from. */
  metrics: readonly string[]
}

/** Options of a report; `metric` and `threshold` default to those of the job. */
export interface ReportChoice {
  failures: FailureRule
  metric?: string | undefined
  threshold?: number | undefined
}

/** A report's conclusion in words. */
export interface Verdict {
  lead: string
  /** Further sentences. */
  more: readonly string[]
  tone: 'ok' | 'attention' | 'danger' | 'neutral'
}

/** Response of `GET /api/benchmark-jobs/{id}/report`: the numbers of the job's page. */
export interface Report extends Judgement, JudgedMetric {
  job: ReportedJob
  verdict: Verdict
  /** Sentences that explain the figures. */
  notes: readonly string[]
}

/** A difference that makes a comparison unfair. */
export interface Incomparability {
  kind: 'scenarios' | 'metric' | 'attempts' | 'timeouts' | 'environment' | 'agents' | 'source' | 'incomplete'
  text: string
}

/** Response of `GET /api/benchmark-jobs/compare`. */
export interface CompareReport extends ScoreScale, JudgedMetric {
  jobs: readonly ReportedJob[]
  /** Id of a job or run. */
  baseline: string
  rule: FailureRule
  complete: boolean
  /** Null if no run has a baseline. */
  verdict: Verdict | null
  agents: readonly AgentFigures[]
  pairs: readonly ComparedPair[]
  excluded_scenarios: Judgement['excluded_scenarios']
  incomparable: readonly Incomparability[]
  /** Settings that all jobs share. */
  same: readonly string[]
  /** Settings that some jobs don't report and that may differ. */
  not_reported: readonly string[]
  notes: readonly string[]
}

/** An agent's result on a data set in one job, compared with its previous one. */
export interface TrendPoint {
  job: ReportedJob
  complete: boolean
  figures: AgentFigures
  /** Compared with the previous point that has a mean; null for the first. */
  change: ComparedPair | null
  /** `possible`: lower by more than the standard error, but not significant. */
  regression: 'significant' | 'possible' | null
  /** Other differences from the previous job. */
  incomparable: readonly Incomparability[]
}

/** Response of `GET /api/benchmark-jobs/trend`. */
export interface TrendReport extends ScoreScale, JudgedMetric {
  agent_name: string
  model_name: string | null
  /** Scenarios of the benchmark, or of the anchor job. */
  data_set: { job_id: string; job_name: string; benchmark_name: string | null; n_scenarios: number | null }
  rule: FailureRule
  complete: boolean
  verdict: Verdict
  /** Oldest first. */
  points: readonly TrendPoint[]
  /** Agents that ran on the data set, with their number of jobs. */
  agents: readonly { agent_name: string; model_name: string | null; n_jobs: number }[]
  /** Jobs searched, newest first, and whether older ones remain. */
  n_jobs_read: number
  has_older_jobs: boolean
  n_jobs_of_data_set: number
  notes: readonly string[]
}
