import type { ScenarioRunState } from '#lib/contract/scenario-runs.ts'

/** The time in a row. Of what ran elsewhere it may be unknown, which the row has as 0. */
export const knownTime = (ms: number): number | null => ms || null

/** Null while it runs, and where one of its times is unknown. */
export const durationOf = ({
  start_time_ms,
  end_time_ms,
}: {
  start_time_ms: number
  end_time_ms: number | null
}): number | null => (start_time_ms && end_time_ms ? end_time_ms - start_time_ms : null)

/** The sum of scores over a count; finite scores give a finite result. */
export const scoreOver = (scores: readonly number[], count: number): number => {
  const total = scores.reduce((sum, score) => sum + score, 0)
  return Number.isFinite(total) ? total / count : scores.reduce((sum, score) => sum + score / count, 0)
}

interface CountedRun {
  state: ScenarioRunState
  score: number | null
  /** A later scenario run of its trial took its place. */
  replaced: boolean
}

/**
 * The score of a benchmark run: the sum of the scores of its completed scenario runs, divided by the number of all its
 * scenario runs, whatever became of them. Nothing is rounded. Unspecified: the score of a run without any; there is none.
 */
export const runScore = (scenarioRuns: readonly CountedRun[]): number | null => {
  const counted = scenarioRuns.filter(({ replaced }) => !replaced)
  if (counted.length === 0) return null
  const scores = counted.map(({ state, score }) => (state === 'completed' ? (score ?? 0) : 0))
  return scoreOver(scores, counted.length)
}
