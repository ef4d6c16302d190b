import { holm } from './differences.ts'
import { isControl, significanceLevel } from './figures.ts'

/** Counted attempts of an agent at one scenario, and how many passed. */
export interface Repeats {
  n: number
  passed: number
}

const hasBoth = ({ n, passed }: Repeats): boolean => passed > 0 && passed < n

/**
 * Marks flaky scenarios in `cells[scenario][agent]`. Unspecified: a scenario is flaky if
 * - a control, which behaves the same each time, both passes and fails, or
 * - more agents both pass and fail than their own rates explain: Poisson-binomial p, Holm-adjusted over the scenarios, below 0.05.
 * A single agent can't make a scenario flaky: to it, flaky and hard scenarios look alike.
 */
export const flakyScenarios = (agentNames: readonly string[], cells: readonly (readonly Repeats[])[]): boolean[] => {
  const isJudged = (at: number) => !isControl(agentNames[at] ?? '')
  const shares = agentNames.map((_, at) => {
    const repeated = cells.flatMap((row) => row[at] ?? []).filter(({ n }) => n > 1)
    return repeated.filter(hasBoth).length / Math.max(1, repeated.length)
  })
  const chances = cells.map((row) => {
    const repeated = row.flatMap((cell, at) => (isJudged(at) && cell.n > 1 ? [{ cell, share: shares[at] ?? 0 }] : []))
    return chanceOf(
      repeated.filter(({ cell }) => hasBoth(cell)).length,
      repeated.map(({ share }) => share),
    )
  })
  const adjusted = holm(chances)
  return cells.map(
    (row, i) => row.some((cell, at) => !isJudged(at) && hasBoth(cell)) || (adjusted[i] ?? 1) < significanceLevel,
  )
}

/** Probability that at least `least` of the independent events occur. */
export const chanceOf = (least: number, chances: readonly number[]): number => {
  let counts = [1]
  for (const p of chances) counts = [...counts, 0].map((same, i) => same * (1 - p) + (counts[i - 1] ?? 0) * p)
  return counts.slice(least).reduce((sum, each) => sum + each, 0)
}
