import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { meanOf } from '#lib/statistics/means.ts'
import { countedScore, type ScenarioRow } from '../grid/scenario-grid.ts'

export const lossCauses = ['wrong', 'exception', 'timeout'] as const
export type LossCause = (typeof lossCauses)[number]

/** Points lost with failures scored as 0: `score` and the points of all causes sum to 1. */
export interface LostPoints {
  score: number
  scenarios: number
  points: Record<LossCause, number>
  attempts: Record<LossCause, number>
  /** Part of the points lost where the environment differs. */
  differing: { points: number; attempts: number }
  cancelled: number
}

/** Null without a counted attempt. Scenarios have equal weight. */
export const lostPoints = (rows: readonly ScenarioRow[], at: number): LostPoints | null => {
  const all = rows.map(({ cells }) => cells[at]?.attempts ?? [])
  const counted = all
    .map((attempts) => attempts.filter((attempt) => countedScore(attempt, 'zero') !== null))
    .filter(({ length }) => length > 0)
  if (counted.length === 0) return null
  const points = { wrong: 0, exception: 0, timeout: 0 }
  const attempts = { wrong: 0, exception: 0, timeout: 0 }
  const differing = { points: 0, attempts: 0 }
  for (const ofScenario of counted)
    for (const attempt of ofScenario) {
      const share = 1 / ofScenario.length / counted.length
      const got = countedScore(attempt, 'zero') ?? 0
      if (got >= 1) continue
      points[causeOf(attempt)] += (1 - got) * share
      attempts[causeOf(attempt)]++
      if (!attempt.environment_differs) continue
      differing.points += (1 - got) * share
      differing.attempts++
    }
  const cancelled = all.flat().filter(({ state }) => state === 'CANCELED').length
  // Computed like the report, to the last digit.
  const score = meanOf(rows.flatMap(({ cells }) => cells[at]?.score.zero ?? [])) ?? 0
  return { score, scenarios: counted.length, points, attempts, differing, cancelled }
}

const causeOf = ({ state }: ScenarioOutcome): LossCause =>
  state === 'FAILED' ? 'exception' : state === 'TIMEOUT' ? 'timeout' : 'wrong'
