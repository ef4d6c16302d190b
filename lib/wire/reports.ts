import type { AgentFigures, AgentIdentity, FailureRule, Judgement, PairFigures } from '#lib/statistics/figures.ts'

export type { AgentFigures, AgentIdentity, FailureRule, PairFigures }

export type ReportFormat = 'json' | 'csv' | 'md'

export interface ReportedJob {
  id: string
  name: string
  state: string
  create_time_ms: number
}

/** Answer of `GET /api/benchmark-jobs/{id}/report`: the numbers of the job's page. */
export interface Report extends Judgement {
  job: ReportedJob
  /** What the numbers mean that their names do not say, in sentences. */
  notes: readonly string[]
}

/** A scenario of a pair, as it was in the baseline and is in the other. */
export interface ScenarioChange {
  scenario_id: string
  scenario_name: string
  before: number
  after: number
  duration_before_ms: number | null
  duration_after_ms: number | null
}

/** A pair whose `a` is the one that is compared and whose `b` is the baseline. */
export interface ComparedPair extends PairFigures {
  new_passes: readonly ScenarioChange[]
  new_failures: readonly ScenarioChange[]
  still_failing: readonly ScenarioChange[]
  /** By half and a second at least. */
  slower: readonly ScenarioChange[]
}

/** Something that makes a comparison less than fair. */
export interface Incomparability {
  kind: 'scenarios' | 'attempts' | 'timeouts' | 'environment' | 'incomplete' | 'agents'
  text: string
}

/** Answer of `GET /api/benchmark-jobs/compare`. */
export interface CompareReport {
  jobs: readonly ReportedJob[]
  /** A job, or one run of it. */
  baseline: string
  rule: FailureRule
  complete: boolean
  agents: readonly AgentFigures[]
  pairs: readonly ComparedPair[]
  excluded_scenarios: Judgement['excluded_scenarios']
  incomparable: readonly Incomparability[]
  notes: readonly string[]
}
