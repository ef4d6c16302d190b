import type { ScenarioRunState, ScoringResult } from '#lib/contract/scenario-runs.ts'
import type { ScoringFunction } from '#lib/contract/scenarios.ts'

/** What happens to a scenario run, by a caller, by itself or by the service. */
export type ScenarioRunEvent =
  | 'score'
  | 'scored'
  /** Its devbox stopped running while it was scored, and may run again. */
  | 'interrupt'
  | 'complete'
  | 'cancel'
  | 'fail'
  | 'time_out'

const endings = { cancel: 'canceled', fail: 'failed', time_out: 'timeout' } as const

const moves: Record<ScenarioRunState, Partial<Record<ScenarioRunEvent, ScenarioRunState>>> = {
  running: { ...endings, score: 'scoring', complete: 'completed' },
  scoring: { ...endings, scored: 'scored', interrupt: 'running' },
  scored: { ...endings, score: 'scoring', complete: 'completed' },
  completed: {},
  canceled: {},
  timeout: {},
  failed: {},
}

/** The state after `event`, or undefined when the event means nothing in this state. */
export const nextRunState = (state: string, event: ScenarioRunEvent): ScenarioRunState | undefined =>
  moves[state as ScenarioRunState]?.[event]

export type FunctionResult = ScoringResult['scoring_function_results'][number]

/** The weighted sum of what the functions gave; weights that sum to a little more than 1 do not take it above 1. */
export const weightedScore = (functions: readonly ScoringFunction[], results: readonly FunctionResult[]): number => {
  const byName = new Map(results.map(({ scoring_function_name, score }) => [scoring_function_name, score]))
  const sum = functions.reduce((total, { name, weight }) => total + weight * (byName.get(name) ?? 0), 0)
  return Math.min(1, Math.max(0, sum))
}
