import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { meanOf } from '#lib/statistics/means.ts'
import { countedScore, type ScenarioRow } from '../grid/scenario-grid.ts'

export const lossCauses = ['wrong', 'exception', 'timeout'] as const
export type LossCause = (typeof lossCauses)[number]

/** What an agent is short of 1 when failures count 0: `score` and the points of all causes sum to 1. */
export interface LostPoints {
  score: number
  /** Scenarios with an attempt that counts, which the points are a mean over. */
  scenarios: number
  points: Record<LossCause, number>
  /** Attempts behind each number of points. */
  attempts: Record<LossCause, number>
  /** Of the points above, those lost at attempts whose environment was not the one asked for. */
  differing: { points: number; attempts: number }
  /** Attempts that cost nothing because they do not count. */
  cancelled: number
}

/** Where the points of the agent in column `at` went; null before its first attempt that counts. Each scenario weighs the same. */
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
  // As the report reckons it, to the last digit.
  const score = meanOf(rows.flatMap(({ cells }) => cells[at]?.score.zero ?? [])) ?? 0
  return { score, scenarios: counted.length, points, attempts, differing, cancelled }
}

const causeOf = ({ state }: ScenarioOutcome): LossCause =>
  state === 'FAILED' ? 'exception' : state === 'TIMEOUT' ? 'timeout' : 'wrong'
