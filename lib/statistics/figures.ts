/** What a failure or a timeout counts: nothing won, or nothing at all. What was cancelled counts nothing either way. */
export type FailureRule = 'zero' | 'leave_out'

/** One attempt of one agent at one scenario. */
export interface AttemptOutcome {
  scenario_id: string
  scenario_name: string
  /** COMPLETED, FAILED, TIMEOUT, CANCELED, or what a service says that knows more of them. */
  state: string
  score?: number | null | undefined
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
  outcomes: readonly AttemptOutcome[]
}

export interface JudgedJob {
  agents: readonly JudgedAgent[]
  /** False while outcomes may still come. */
  complete: boolean
  /** How many attempts an agent was to have at a scenario, where that is known. */
  attempts?: number | undefined
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
  /** The chance that one of k attempts at a scenario has the score 1, by k. */
  pass_at_k: Readonly<Record<string, number>> | null
  /** The chance that all of k attempts have it. */
  pass_hat_k: Readonly<Record<string, number>> | null
  /** Scenarios whose attempts have the mean 1. */
  n_passed: number
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

/** Over fewer scenarios it never is: all n differences of one sign have p = 2 / 2^n. */
export const fewestToSettle = 1 + Math.ceil(Math.log2(1 / settledBelow))

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
  /** Student's t, 95 %, not clipped. */
  ci_low: number | null
  ci_high: number | null
  p_value: number | null
  /** By Holm over the pairs of the report. */
  p_adjusted: number | null
  /** Of `p_value`. */
  method: 'sign_flips_exact' | 'sign_flips_sampled' | null
  /** How many patterns of signs were looked at; of sampled ones, from which seed. */
  permutations: number | null
  seed: number | null
  only_a_passes: number
  only_b_passes: number
  both_pass: number
  neither_passes: number
  mcnemar_p: number | null
  mcnemar_mid_p: number | null
  /** `p_adjusted` is below 0.05. */
  settled: boolean
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
export interface Judgement {
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
  new_passes: readonly ScenarioChange[]
  new_failures: readonly ScenarioChange[]
  /** Scored below the baseline, the new failures among them. */
  worse: readonly ScenarioChange[]
  /** Scored above the baseline, the new passes among them. */
  better: readonly ScenarioChange[]
  /** Passed by neither, whatever the scores. */
  still_failing: readonly ScenarioChange[]
  /** By half and by a second at least. */
  slower: readonly ScenarioChange[]
}
