import type { FailureRule } from '#lib/protocol/reports.ts'
import { countedScore, type ScenarioRow } from '../grid/scenario-grid.ts'

/** 0 and 1 have their own bins; other scores are grouped in quarters. */
export const scoreBins = ['0', 'to 0.25', 'to 0.5', 'to 0.75', 'below 1', '1'] as const

export const binOf = (score: number): number => (score <= 0 ? 0 : score >= 1 ? 5 : Math.min(4, Math.ceil(score * 4)))

export const scoreCounts = (rows: readonly ScenarioRow[], at: number, rule: FailureRule): number[] => {
  const counts = scoreBins.map(() => 0)
  for (const { cells } of rows) {
    const score = cells[at]?.score[rule] ?? null
    if (score !== null) counts[binOf(score)] = (counts[binOf(score)] ?? 0) + 1
  }
  return counts
}

export interface TimedScore {
  duration_ms: number
  score: number
}

export const timedScores = (rows: readonly ScenarioRow[], at: number, rule: FailureRule): TimedScore[] =>
  rows.flatMap(({ cells }) =>
    (cells[at]?.attempts ?? []).flatMap((attempt) => {
      const score = countedScore(attempt, rule)
      return score === null || attempt.duration_ms == null ? [] : [{ score, duration_ms: attempt.duration_ms }]
    }),
  )

export interface GroupPasses {
  name: string
  agents: readonly { passes: number; n: number }[]
}

export const groupPasses = (
  rows: readonly ScenarioRow[],
  agents: number,
  rule: FailureRule,
  groupOf: (row: ScenarioRow) => string,
): GroupPasses[] =>
  [...Map.groupBy(rows, groupOf)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([name, members]) => ({
      name,
      agents: Array.from({ length: agents }, (_, at) => {
        const passes = members.flatMap(({ cells }) => cells[at]?.passes[rule] ?? [])
        return { passes: passes.filter(Boolean).length, n: passes.length }
      }),
    }))
