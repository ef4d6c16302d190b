import type {
  AgentFigures,
  AgentIdentity,
  ComparedPair,
  Direction,
  FailureRule,
  GroupFigures,
  Judgment,
  MetricFigures,
  PairFigures,
  ScenarioChange,
  ScoreScale,
} from '#lib/statistics/figures.ts'
import type { Exclusion } from './marks.ts'

export type {
  AgentFigures,
  AgentIdentity,
  ComparedPair,
  Direction,
  FailureRule,
  GroupFigures,
  MetricFigures,
  PairFigures,
  ScenarioChange,
  ScoreScale,
}

export type ReportFormat = 'json' | 'csv' | 'md' | 'html' | 'junit'

export type ReportTable =
  | 'agents'
  | 'pairs'
  | 'failure_groups'
  | 'groups'
  | 'group_pairs'
  | 'excluded_scenarios'
  | 'exclusions'
  | 'labels'

export interface ReportedJob {
  id: string
  name: string
  state: string
  create_time_ms: number | null
  planned_scenarios: number | null
  planned_attempts: number | null
  /** Reward key of the scores; null for the service's own scorers. */
  metric: string | null
}

interface JudgedMetric {
  /** Judged metric of all jobs; null for the service's own scorers or mixed reward keys. */
  metric: string | null
  /** Metrics that all jobs have: reward keys, then built-in ones. */
  metrics: readonly string[]
}

export interface ReportChoice {
  failures: FailureRule
  /** A reward key or built-in metric. */
  metric?: string | undefined
  direction?: Direction | undefined
  threshold?: number | undefined
  /** Metadata key of the scenarios. */
  group?: string | undefined
  /** Whether attempts that people excluded are left out of every figure. Default: apply. */
  exclusions?: 'apply' | 'ignore' | undefined
}

export interface GroupReport {
  group: string | null
  /** Null unless a group was requested. Sorted by value. */
  groups: readonly GroupFigures[] | null
  group_notes: readonly string[]
}

/** Figures of the same report with nothing excluded. */
export interface WithoutExclusions<Pair> {
  agents: readonly AgentFigures[]
  pairs: readonly Pair[]
  verdict: Verdict | null
}

export interface ReportedExclusion extends Exclusion {
  /** Attempts of this report that it matches. */
  n_attempts: number
  /** The excluded attempt; null for a scenario and for an attempt that no longer exists. */
  attempt: { benchmark_run_id: string; position: number } | null
}

export interface ExclusionReport<Pair> {
  rule: string
  applied: boolean
  /** Oldest first. */
  items: readonly ReportedExclusion[]
  /** Null if exclusions are ignored. */
  without: WithoutExclusions<Pair> | null
}

export interface LabelCount {
  label: string
  n_attempts: number
  agents: readonly { benchmark_run_id: string; n: number }[]
}

export interface MarkReport<Pair> {
  /** Null if there are none. */
  exclusions: ExclusionReport<Pair> | null
  /** Labeled attempts of this report, excluded ones included. Most attempts first. */
  labels: readonly LabelCount[]
}

export interface Verdict {
  lead: string
  more: readonly string[]
  tone: 'ok' | 'attention' | 'danger' | 'neutral'
}

export type FailureKind = 'exception' | 'timeout' | 'wrong'

/** Attempts that failed for one reason: messages that differ only in numbers, IDs and paths are the same. */
export interface FailureGroupFigures {
  key: string
  kind: FailureKind
  title: string
  /** With placeholders `#`, `<id>`, `<path>` and `<url>`; empty for wrong answers. */
  message: string
  n_attempts: number
  n_scenarios: number
  agents: { benchmark_run_id: string; n_attempts: number; points: number | null }[]
  /** How far the agents' means are lowered, summed over agents, with failures as 0; null for scores outside 0 to 1. */
  points: number | null
  first: { benchmark_run_id: string; scenario_id: string; attempt: number }
}

/** Response of `GET /api/benchmark-jobs/{id}/report`: the numbers of the job's page. */
export interface Report extends Judgment, JudgedMetric, GroupReport, MarkReport<PairFigures> {
  job: ReportedJob
  verdict: Verdict
  /** Most points lost first. Controls are left out unless there is nothing else. */
  failure_groups: readonly FailureGroupFigures[]
  /** Why Harbor prints other means, if it does; also in `notes`. */
  harbor_mean: string | null
  notes: readonly string[]
}

export interface Incomparability {
  kind: 'scenarios' | 'metric' | 'attempts' | 'timeouts' | 'environment' | 'agents' | 'source' | 'incomplete'
  text: string
}

export const gateKinds = ['no_regression', 'superior', 'non_inferior'] as const
export type GateKind = (typeof gateKinds)[number]

export interface GateRun {
  a: AgentIdentity
  /** Null if the baseline has no run of this agent. */
  b: AgentIdentity | null
  passed: boolean
  decided: boolean
  reason: string
  /** a - b. */
  difference: number | null
  /** End of the difference's 95% CI that is compared with the margin. */
  bound: number | null
  p_adjusted: number | null
}

export interface GateResult {
  kind: GateKind
  /** How much worse the true mean may be under `non_inferior`. */
  margin: number | null
  passed: boolean
  /** False if a run can't be compared or a job hasn't ended; then `passed` is false as well. */
  decided: boolean
  sentence: string
  runs: readonly GateRun[]
}

/** Response of `GET /api/benchmark-jobs/compare/report`. */
export interface CompareReport extends ScoreScale, JudgedMetric, GroupReport, MarkReport<ComparedPair> {
  jobs: readonly ReportedJob[]
  baseline: string
  rule: FailureRule
  complete: boolean
  /** Null if no run has a baseline. */
  verdict: Verdict | null
  agents: readonly AgentFigures[]
  pairs: readonly ComparedPair[]
  excluded_scenarios: Judgment['excluded_scenarios']
  /** Null unless a gate was requested. */
  gate: GateResult | null
  incomparable: readonly Incomparability[]
  same: readonly string[]
  /** Settings that some jobs don't report and that may differ. */
  not_reported: readonly string[]
  notes: readonly string[]
}

export interface TrendPoint {
  job: ReportedJob
  complete: boolean
  figures: AgentFigures
  /** Compared with the previous point that has a mean; null for the first. */
  change: ComparedPair | null
  /** `possible`: lower by more than the standard error, but not significant. */
  regression: 'significant' | 'possible' | null
  incomparable: readonly Incomparability[]
}

/** Response of `GET /api/benchmark-jobs/trend`. */
export interface TrendReport extends ScoreScale, JudgedMetric, MarkReport<ComparedPair> {
  agent_name: string
  model_name: string | null
  data_set: { job_id: string; job_name: string; benchmark_name: string | null; n_scenarios: number | null }
  rule: FailureRule
  complete: boolean
  verdict: Verdict
  /** Oldest first. */
  points: readonly TrendPoint[]
  agents: readonly { agent_name: string; model_name: string | null; n_jobs: number }[]
  n_jobs_read: number
  has_older_jobs: boolean
  n_jobs_of_data_set: number
  notes: readonly string[]
}
