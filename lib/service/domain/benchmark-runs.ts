import type { ScenarioRunState } from '#lib/contract/scenario-runs.ts'

/** Rows store unknown times as 0. */
export const knownTime = (ms: number): number | null => ms || null

/** Null while running, or if a time is unknown. */
export const durationOf = ({
  start_time_ms,
  end_time_ms,
}: {
  start_time_ms: number
  end_time_ms: number | null
}): number | null => (start_time_ms && end_time_ms ? end_time_ms - start_time_ms : null)

/** Divides the sum of scores by a count, without overflowing. */
export const scoreOver = (scores: readonly number[], count: number): number => {
  const total = scores.reduce((sum, score) => sum + score, 0)
  return Number.isFinite(total) ? total / count : scores.reduce((sum, score) => sum + score / count, 0)
}

interface CountedRun {
  state: ScenarioRunState
  score: number | null
  replaced: boolean
}

/** Sum of the completed scores divided by the number of all scenario runs. Unspecified: null without scenario runs. */
export const runScore = (scenarioRuns: readonly CountedRun[]): number | null => {
  const counted = scenarioRuns.filter(({ replaced }) => !replaced)
  if (counted.length === 0) return null
  const scores = counted.map(({ state, score }) => (state === 'completed' ? (score ?? 0) : 0))
  return scoreOver(scores, counted.length)
}
