import type { ScenarioRunState, ScoringResult } from '#lib/contract/scenario-runs.ts'
import type { ScoringFunction } from '#lib/contract/scenarios.ts'

export type ScenarioRunEvent =
  | 'score'
  | 'scored'
  /** The devbox stopped during scoring but may run again. */
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

export const nextRunState = (state: string, event: ScenarioRunEvent): ScenarioRunState | undefined =>
  moves[state as ScenarioRunState]?.[event]

export type FunctionResult = ScoringResult['scoring_function_results'][number]

/** Clamped, because rounded weights may sum to slightly more than 1. */
export const weightedScore = (functions: readonly ScoringFunction[], results: readonly FunctionResult[]): number => {
  const byName = new Map(results.map(({ scoring_function_name, score }) => [scoring_function_name, score]))
  const sum = functions.reduce((total, { name, weight }) => total + weight * (byName.get(name) ?? 0), 0)
  return Math.min(1, Math.max(0, sum))
}
