/** Whether failures and timeouts score 0 or are excluded. Canceled attempts are always excluded. */
export type FailureRule = 'zero' | 'leave_out'

export interface AttemptOutcome {
  scenario_id: string
  scenario_name: string
  /** COMPLETED, FAILED, TIMEOUT, CANCELED, or a state only the service knows. */
  state: string
  score?: number | null | undefined
  /** All numeric rewards, including the judged one. */
  rewards?: Readonly<Record<string, number>> | null | undefined
  failure_reason?: { exception_type: string; exception_message?: string | null | undefined } | null | undefined
  duration_ms?: number | null | undefined
  usage?: (AttemptUsage & { unknown_because?: string | null | undefined }) | null | undefined
}

export interface AttemptUsage {
  n_input_tokens?: number | null | undefined
  n_cache_tokens?: number | null | undefined
  n_output_tokens?: number | null | undefined
  cost_usd?: number | null | undefined
}

export interface UsageFigures {
  n_input_tokens: number | null
  n_cache_tokens: number | null
  n_output_tokens: number | null
  cost_usd: number | null
  n_with_tokens: number
  n_with_cost: number
}

/** An agent of a job. Agents of one job may share a name and model; only the run id is unique. */
export interface AgentIdentity {
  agent_name: string
  model_name: string | null
  benchmark_run_id: string
  job_id: string
  /** Settings in which it differs from agents of the same name and model, such as `temperature=0.2`. */
  differs?: string
}

/** Harbor's control agents: `nop` does nothing, `oracle` runs the task's own solution. */
export const isControl = (name: string): boolean => name === 'nop' || name === 'oracle'

export interface JudgedAgent extends AgentIdentity {
  n_planned?: number | null | undefined
  /** Reward key of the scores; null if not reported. */
  metric?: string | null | undefined
  outcomes: readonly AttemptOutcome[]
}

export interface JudgedJob {
  agents: readonly JudgedAgent[]
  complete: boolean
  /** Default: `lower` for built-in metrics, otherwise `higher`. */
  direction?: Direction | undefined
  /** The lowest passing score, or the highest if lower is better. Default: 1 if all scores are between 0 and 1, otherwise none. */
  threshold?: number | undefined
}

/** Which scores are better. */
export type Direction = 'higher' | 'lower'

export interface ScoreScale {
  is_unit_range: boolean
  /** Worst passing score of an attempt and mean of a scenario; null if none is set and scores leave 0..1 or lower is better. */
  threshold: number | null
  lower_is_better: boolean
}

/** One metric of an agent, averaged like the judged one. */
export interface MetricFigures {
  mean: number | null
  se: number | null
  ci_low: number | null
  ci_high: number | null
  n_scenarios: number
  n_attempts: number
  lower_is_better: boolean
}

export type Reasons = Readonly<Record<string, string>>

export interface AgentFigures extends AgentIdentity, UsageFigures {
  n_scenarios: number
  n_attempts: number
  mean: number | null
  se: number | null
  ci_low: number | null
  ci_high: number | null
  method: 'wilson' | 't' | 'z' | null
  /** Probability that at least one of k attempts passes, by k. */
  pass_at_k: Readonly<Record<string, number>> | null
  pass_hat_k: Readonly<Record<string, number>> | null
  n_passed: number | null
  /** `cost_usd` by `n_passed`; null unless every counted attempt reports its cost. */
  cost_per_solved: number | null
  n_planned: number | null
  n_completed: number
  n_failed: number
  n_timeout: number
  n_cancelled: number
  n_other: number
  duration_median_ms: number | null
  duration_p95_ms: number | null
  /** Best and worst rank that significant differences allow; null for controls. */
  rank_low: number | null
  rank_high: number | null
  /** Reward keys of the job and built-in metrics that the agent's attempts report. */
  metrics: Readonly<Record<string, MetricFigures>>
  reasons: Reasons
}

export const significanceLevel = 0.05

/** Fewest scenarios that can make one of `pairs` significant: n differences of one sign have p = 2 / 2^n. */
export const minScenarios = (pairs = 1): number => 2 + Math.floor(Math.log2(Math.max(1, pairs) / significanceLevel))

export interface PairFigures {
  a: AgentIdentity
  b: AgentIdentity
  /** Scenarios that both agents scored; all other fields use only these. */
  n: number
  mean_a: number | null
  mean_b: number | null
  difference: number | null
  lower_is_better: boolean
  se: number | null
  /** 95% t interval, clamped to -1..1 for unit-range scores. */
  ci_low: number | null
  ci_high: number | null
  p_value: number | null
  /** Holm-adjusted over the report's pairs; null for pairs with a control. */
  p_adjusted: number | null
  method: 'sign_flips_exact' | 'sign_flips_rounded' | 'sign_flips_normal' | null
  only_a_passes: number | null
  only_b_passes: number | null
  both_pass: number | null
  neither_passes: number | null
  mcnemar_p: number | null
  mcnemar_mid_p: number | null
  /** `p_adjusted` (for controls `p_value`) is below 0.05. */
  significant: boolean
  min_scenarios: number
  /** Scenarios needed to detect a difference of this size with power 0.95. */
  scenarios_needed: number | null
  reasons: Reasons
}

/** Figures of the scenarios that share a metadata value; null for those without the key. */
export interface GroupFigures {
  value: string | null
  agents: readonly (AgentIdentity &
    Pick<AgentFigures, 'n_scenarios' | 'n_attempts' | 'mean' | 'se' | 'ci_low' | 'ci_high' | 'method' | 'reasons'>)[]
  /** The pairs of the report, Holm-adjusted over all groups. */
  pairs: readonly PairFigures[]
}

export type MissingReason = 'no_outcome' | 'cancelled' | 'failures_left_out' | 'not_reported' | 'unknown_state'

export interface ExcludedScenario {
  scenario_id: string
  scenario_name: string
  missing_from: readonly (AgentIdentity & { why: MissingReason })[]
}

export interface Judgment extends ScoreScale {
  rule: FailureRule
  complete: boolean
  agents: readonly AgentFigures[]
  pairs: readonly PairFigures[]
  excluded_scenarios: readonly ExcludedScenario[]
}

/** Score and duration of a scenario in the baseline (before) and in the compared run (after). */
export interface ScenarioChange {
  scenario_id: string
  scenario_name: string
  before: number
  after: number
  duration_before_ms: number | null
  duration_after_ms: number | null
}

/** `a` is the compared run, `b` its baseline. */
export interface ComparedPair extends PairFigures {
  /** Null without a threshold, like new and persistent failures. */
  new_passes: readonly ScenarioChange[] | null
  new_failures: readonly ScenarioChange[] | null
  worse: readonly ScenarioChange[]
  better: readonly ScenarioChange[]
  still_failing: readonly ScenarioChange[] | null
  slower: readonly ScenarioChange[]
}
