import type { ScenarioRunState } from '#lib/contract/scenario-runs.ts'

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
  const sum = counted.reduce((total, { state, score }) => total + (state === 'completed' ? (score ?? 0) : 0), 0)
  return sum / counted.length
}
