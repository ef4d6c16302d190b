import { isControl, settledBelow } from './figures.ts'
import { holm } from './holm.ts'

/** How often an agent's attempts at one scenario scored 1, of those that count. */
export interface Repeats {
  n: number
  passed: number
}

const hasBoth = ({ n, passed }: Repeats): boolean => passed > 0 && passed < n

/**
 * Which scenarios are flaky, for `cells[scenario][agent]`. Few attempts of an agent that is unsure differ by chance, so
 * that alone says nothing of a scenario. Unspecified: it is flaky where
 * - an agent that checks the tasks, and does the same each time, both passes and does not, or
 * - so many agents do both that their own shares of such scenarios do not explain it: the chance of as many or more, each
 *   agent doing both at its share (a sum of unequal coins: Poisson 1837), adjusted by Holm over the scenarios, is below 0.05.
 * One agent alone can therefore not make a scenario flaky: for it a flaky one and a hard one look the same.
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
    (row, i) => row.some((cell, at) => !isJudged(at) && hasBoth(cell)) || (adjusted[i] ?? 1) < settledBelow,
  )
}

/** The chance that at least so many of independent events happen. */
export const chanceOf = (least: number, chances: readonly number[]): number => {
  let counts = [1]
  for (const p of chances) counts = [...counts, 0].map((same, i) => same * (1 - p) + (counts[i - 1] ?? 0) * p)
  return counts.slice(least).reduce((sum, each) => sum + each, 0)
}
