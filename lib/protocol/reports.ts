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

/** What a report has rows of: each is a CSV of its own. */
export type ReportTable = 'agents' | 'pairs' | 'excluded_scenarios'

export interface ReportedJob {
  id: string
  name: string
  state: string
  create_time_ms: number | null
  /** What each agent was to do; null where the job does not tell. */
  planned_scenarios: number | null
  planned_attempts: number | null
  /** Reward key that its scores are of; null where the service's own scorers judged. */
  metric: string | null
}

/** The reward key that all scores of a report are of, and the keys that can be chosen. */
interface JudgedMetric {
  /** Null where the service's own scorers judged, or jobs by several keys. */
  metric: string | null
  metrics: readonly string[]
}

/** How a report is computed; `metric` and `threshold` are those of the job unless chosen. */
export interface ReportChoice {
  failures: FailureRule
  metric?: string | undefined
  threshold?: number | undefined
}

/** What a report comes to in words. */
export interface Verdict {
  /** Who is better, by how much and whether that is settled. */
  lead: string
  /** What there is to say beside it, sentence by sentence. */
  more: readonly string[]
  tone: 'ok' | 'attention' | 'danger' | 'neutral'
}

/** Answer of `GET /api/benchmark-jobs/{id}/report`: the numbers of the job's page. */
export interface Report extends Judgement, JudgedMetric {
  job: ReportedJob
  verdict: Verdict
  /** What the numbers mean that their names do not say, in sentences. */
  notes: readonly string[]
}

/** Something that makes a comparison less than fair. */
export interface Incomparability {
  kind: 'scenarios' | 'metric' | 'attempts' | 'timeouts' | 'environment' | 'agents' | 'source' | 'incomplete'
  text: string
}

/** Answer of `GET /api/benchmark-jobs/compare`. */
export interface CompareReport extends ScoreScale, JudgedMetric {
  jobs: readonly ReportedJob[]
  /** The id of a job, or of one run of it. */
  baseline: string
  rule: FailureRule
  complete: boolean
  /** Null where no side has a baseline. */
  verdict: Verdict | null
  agents: readonly AgentFigures[]
  pairs: readonly ComparedPair[]
  excluded_scenarios: Judgement['excluded_scenarios']
  incomparable: readonly Incomparability[]
  /** What was compared and is the same in all jobs. */
  same: readonly string[]
  /** What some jobs do not report, so that it may differ. */
  not_reported: readonly string[]
  notes: readonly string[]
}

/** What an agent made of a data set in one job, beside what it made of it before. */
export interface TrendPoint {
  job: ReportedJob
  /** Whether no outcome of the job will come any more. */
  complete: boolean
  figures: AgentFigures
  /** Against the point before that has a mean, over the scenarios both have a score for; null where there is none. */
  change: ComparedPair | null
  /** `settled`: worse, and not by chance; `possible`: worse by more than its standard error, which may be chance. */
  regression: 'settled' | 'possible' | null
  /** What else is not as it was before. */
  incomparable: readonly Incomparability[]
}

/** Answer of `GET /api/benchmark-jobs/trend`. */
export interface TrendReport extends ScoreScale, JudgedMetric {
  agent_name: string
  model_name: string | null
  /** The scenarios of a job: those of its benchmark, where it is of one. */
  data_set: { job_id: string; job_name: string; benchmark_name: string | null; n_scenarios: number | null }
  rule: FailureRule
  complete: boolean
  verdict: Verdict
  /** The oldest first. */
  points: readonly TrendPoint[]
  /** Who else has run on the data set, with in how many of the jobs. */
  agents: readonly { agent_name: string; model_name: string | null; n_jobs: number }[]
  /** Jobs that were read to find these, the newest first, and whether there are older ones. */
  n_jobs_read: number
  has_older_jobs: boolean
  /** Of those jobs, the ones on the data set. */
  n_jobs_of_data_set: number
  notes: readonly string[]
}
