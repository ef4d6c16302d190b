export interface ScoreAtCost {
  cost: number
  score: number
}

/**
 * Pareto frontier, cheapest first: no other point costs at most as much and scores at least as well, and is better in one.
 * `dominators`: for each point those of the frontier that are.
 */
export const frontierOf = <T extends ScoreAtCost>(points: readonly T[], lowerIsBetter = false) => {
  const sign = lowerIsBetter ? -1 : 1
  const dominates = (one: T, other: T) => {
    const [cost, score] = [compared(other.cost, one.cost), sign * compared(one.score, other.score)]
    return cost >= 0 && score >= 0 && cost + score > 0
  }
  const frontier = points
    .filter((point) => !points.some((other) => dominates(other, point)))
    .sort((a, b) => a.cost - b.cost || sign * (a.score - b.score))
  return { frontier, dominators: points.map((point) => frontier.filter((other) => dominates(other, point))) }
}

/** Means are off in the last digits. */
const compared = (a: number, b: number): number =>
  Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b)) ? 0 : Math.sign(a - b)
