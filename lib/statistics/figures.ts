/** Whether a failure or a timeout scores 0 or is left out. Cancelled attempts are left out either way. */
export type FailureRule = 'zero' | 'leave_out'

/** One attempt of one agent at one scenario. */
export interface AttemptOutcome {
  scenario_id: string
  scenario_name: string
  /** COMPLETED, FAILED, TIMEOUT, CANCELED, or what a service says that knows more of them. */
  state: string
  score?: number | null | undefined
  failure_reason?: { exception_type: string } | null | undefined
  duration_ms?: number | null | undefined
  /** Which of the attempts at its scenario, where that is known. */
  attempt?: number | null | undefined
  usage?: (AttemptUsage & { unknown_because?: string | null | undefined }) | null | undefined
}

export interface AttemptUsage {
  n_input_tokens?: number | null | undefined
  n_cache_tokens?: number | null | undefined
  n_output_tokens?: number | null | undefined
  cost_usd?: number | null | undefined
}

/** Sums over the attempts that tell them. */
export interface UsageFigures {
  /** With those from a cache. */
  n_input_tokens: number | null
  n_cache_tokens: number | null
  n_output_tokens: number | null
  cost_usd: number | null
  /** The attempts that tell their tokens, and those that tell their cost. */
  n_with_tokens: number
  n_with_cost: number
}

/** An agent of a job. Two of one job may have the same name and model; their runs tell them apart. */
export interface AgentIdentity {
  agent_name: string
  model_name: string | null
  benchmark_run_id: string
  job_id: string
}

/** Agents of Harbor that check the tasks: one does nothing, the other runs the solution that comes with a task. */
export const isControl = (name: string): boolean => name === 'nop' || name === 'oracle'

export interface JudgedAgent extends AgentIdentity {
  /** Attempts it was to have at all scenarios, where that is known. */
  n_planned?: number | null | undefined
  /** Reward key its scores are of; null where it is not reported or there is none. */
  metric?: string | null | undefined
  outcomes: readonly AttemptOutcome[]
}

export interface JudgedJob {
  agents: readonly JudgedAgent[]
  /** False while outcomes may still come. */
  complete: boolean
  /** How many attempts an agent was to have at a scenario, where that is known. */
  attempts?: number | undefined
  /** Score from which an attempt passes. Default: 1 where all scores lie within 0 and 1, none otherwise. */
  threshold?: number | undefined
}

/** What a score can be, and from which score on an attempt passes. */
export interface ScoreScale {
  /** Every score lies within 0 and 1. */
  is_unit_range: boolean
  /** An attempt passes at this score, a scenario at this mean. Null where scores leave 0..1 and nobody chose a threshold. */
  threshold: number | null
}

/** Why a figure is null, by its name. */
export type Reasons = Readonly<Record<string, string>>

export interface AgentFigures extends AgentIdentity, UsageFigures {
  /** The scenarios the mean is taken over. */
  n_scenarios: number
  /** The attempts at them that count. */
  n_attempts: number
  /** Of the means of the scenarios. */
  mean: number | null
  se: number | null
  ci_low: number | null
  ci_high: number | null
  /** Of the interval, which covers 95 %. */
  method: 'wilson' | 't' | 'z' | null
  /** Chance that one of k attempts at a scenario passes, by k. */
  pass_at_k: Readonly<Record<string, number>> | null
  /** Chance that all of k attempts pass. */
  pass_hat_k: Readonly<Record<string, number>> | null
  /** Scenarios that pass. Null without a threshold. */
  n_passed: number | null
  /** Attempts that were planned, including those that never ran; null where that is not reported. */
  n_planned: number | null
  /** Attempts by how they ended, whether they count or not. */
  n_completed: number
  n_failed: number
  n_timeout: number
  n_cancelled: number
  /** Attempts in a state that is none of these: they do not count. */
  n_other: number
  /** Of the attempts that were not cancelled. */
  duration_median_ms: number | null
  duration_p95_ms: number | null
  /**
   * One more than the agents that are ahead of it and settled, and the number of agents that are not settled behind it.
   * Agents that check the tasks have no rank and take none from others.
   */
  rank_low: number | null
  rank_high: number | null
  reasons: Reasons
}

/** Below this a difference counts as settled. */
export const settledBelow = 0.05

/** Fewest scenarios over which one of so many pairs can be settled: n differences of one sign have p = 2 / 2^n. */
export const fewestToSettle = (pairs = 1): number => 2 + Math.floor(Math.log2(Math.max(1, pairs) / settledBelow))

export interface PairFigures {
  a: AgentIdentity
  b: AgentIdentity
  /** The scenarios both have a mean for; all that follows is of these. */
  n: number
  mean_a: number | null
  mean_b: number | null
  /** Of a over b. */
  difference: number | null
  se: number | null
  /** Student's t, 95 %, within -1 and 1 where all scores lie within 0 and 1. */
  ci_low: number | null
  ci_high: number | null
  p_value: number | null
  /** By Holm over the pairs of the report. Null where one of the two is a control: those pairs are not part of it. */
  p_adjusted: number | null
  /** Of `p_value`. */
  method: 'sign_flips_exact' | 'sign_flips_rounded' | 'sign_flips_normal' | null
  /** Scenarios by who passes. Null without a threshold. */
  only_a_passes: number | null
  only_b_passes: number | null
  both_pass: number | null
  neither_passes: number | null
  mcnemar_p: number | null
  mcnemar_mid_p: number | null
  /** `p_adjusted` is below 0.05, or `p_value` where one of the two is a control. */
  settled: boolean
  /** Fewest scenarios over which it can be settled, for as many pairs. */
  fewest_to_settle: number
  /** About how many scenarios would show a difference of this size with a power of 0.95. */
  scenarios_to_settle: number | null
  reasons: Reasons
}

/** A scenario that not every agent has a mean for. */
export interface ExcludedScenario {
  scenario_id: string
  scenario_name: string
  missing_from: readonly (AgentIdentity & { why: 'no_outcome' | 'cancelled' | 'failures_left_out' | 'unknown_state' })[]
}

/** What the outcomes of a job tell of its agents. */
export interface Judgement extends ScoreScale {
  rule: FailureRule
  complete: boolean
  agents: readonly AgentFigures[]
  /** Each agent with each that comes after it. */
  pairs: readonly PairFigures[]
  excluded_scenarios: readonly ExcludedScenario[]
}

/** A scenario of a pair, as it was in the baseline and is in the one that is compared with it. */
export interface ScenarioChange {
  scenario_id: string
  scenario_name: string
  before: number
  after: number
  duration_before_ms: number | null
  duration_after_ms: number | null
}

/** A pair whose `a` is the one that is compared and whose `b` is its baseline. */
export interface ComparedPair extends PairFigures {
  /** Null without a threshold, as are the new failures and what fails still. */
  new_passes: readonly ScenarioChange[] | null
  new_failures: readonly ScenarioChange[] | null
  /** Scored below the baseline, the new failures among them. */
  worse: readonly ScenarioChange[]
  /** Scored above the baseline, the new passes among them. */
  better: readonly ScenarioChange[]
  /** Passed by neither, whatever the scores. */
  still_failing: readonly ScenarioChange[] | null
  /** By half and by a second at least. */
  slower: readonly ScenarioChange[]
}
