import type {
  AgentFigures,
  AgentIdentity,
  ComparedPair,
  FailureRule,
  Judgement,
  PairFigures,
  ScenarioChange,
} from '#lib/statistics/figures.ts'

export type { AgentFigures, AgentIdentity, ComparedPair, FailureRule, PairFigures, ScenarioChange }

export type ReportFormat = 'json' | 'csv' | 'md'

export interface ReportedJob {
  id: string
  name: string
  state: string
  create_time_ms: number
  /** What each agent was to do; null where the job does not tell. */
  planned_scenarios: number | null
  planned_attempts: number | null
}

/** Answer of `GET /api/benchmark-jobs/{id}/report`: the numbers of the job's page. */
export interface Report extends Judgement {
  job: ReportedJob
  /** What the numbers mean that their names do not say, in sentences. */
  notes: readonly string[]
}

/** Something that makes a comparison less than fair. */
export interface Incomparability {
  kind: 'scenarios' | 'attempts' | 'timeouts' | 'environment' | 'agents' | 'source' | 'incomplete'
  text: string
}

/** Answer of `GET /api/benchmark-jobs/compare`. */
export interface CompareReport {
  jobs: readonly ReportedJob[]
  /** The id of a job, or of one run of it. */
  baseline: string
  rule: FailureRule
  complete: boolean
  agents: readonly AgentFigures[]
  pairs: readonly ComparedPair[]
  excluded_scenarios: Judgement['excluded_scenarios']
  incomparable: readonly Incomparability[]
  notes: readonly string[]
}
