import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import type { ScoreScale } from '#lib/statistics/figures.ts'
import { meanOf } from '#lib/statistics/means.ts'
import type { CountingRule } from '#lib/statistics/metrics.ts'
import { countedScore, inNameOrder, passes } from '#lib/statistics/tallies.ts'

export interface Disagreement {
  scenario_id: string
  name: string
  /** Attempts from 1 that show it: the best of the better side, the worst of the other. */
  a: number
  b: number
  onlyOnePasses: boolean
  gap: number
}

interface Rules extends Pick<ScoreScale, 'threshold' | 'lower_is_better'> {
  rule: CountingRule
  isExcluded?: (outcome: ScenarioOutcome) => boolean
}

const rounding = 1e-9

/** Scenarios where two agents differ, those that only one passes first. An agent is compared with itself by its attempts. */
export const disagreementsOf = (
  a: readonly ScenarioOutcome[],
  b: readonly ScenarioOutcome[],
  { rule, isExcluded = () => false, ...scale }: Rules,
): Disagreement[] => {
  const [ofA, ofB] = [attemptsByScenario(a), attemptsByScenario(b)]
  const scoresOf = (attempts: readonly ScenarioOutcome[]): Scored[] =>
    attempts.flatMap((outcome, at) => {
      const score = isExcluded(outcome) ? undefined : countedScore(outcome, rule)
      return score === undefined ? [] : [{ attempt: at + 1, score }]
    })
  return [...ofA]
    .flatMap(([scenario_id, attempts]): Disagreement[] => {
      const [one, other] = [scoresOf(attempts), scoresOf(ofB.get(scenario_id) ?? [])]
      const scores =
        a === b ? ends(one) : [meanOf(one.map(({ score }) => score)), meanOf(other.map(({ score }) => score))]
      const [scoreA, scoreB] = scores as [number | null, number | null]
      if (scoreA === null || scoreB === null || Math.abs(scoreA - scoreB) < rounding) return []
      const isHigher = scoreA > scoreB
      return [
        {
          scenario_id,
          name: attempts.find(({ scenario_name }) => scenario_name.trim())?.scenario_name ?? scenario_id,
          a: pick(one, isHigher),
          b: pick(other, !isHigher),
          onlyOnePasses: passes(scoreA, scale) !== passes(scoreB, scale),
          gap: Math.abs(scoreA - scoreB),
        },
      ]
    })
    .sort((x, y) => Number(y.onlyOnePasses) - Number(x.onlyOnePasses) || y.gap - x.gap || inNameOrder(x.name, y.name))
}

export const attemptsByScenario = (outcomes: readonly ScenarioOutcome[]): ReadonlyMap<string, ScenarioOutcome[]> =>
  Map.groupBy(outcomes, ({ scenario_definition_id }) => scenario_definition_id)

interface Scored {
  attempt: number
  score: number
}

const ends = (scored: readonly Scored[]): [number | null, number | null] => {
  const scores = scored.map(({ score }) => score).sort((x, y) => y - x)
  return [scores[0] ?? null, scores.at(-1) ?? null]
}

const pick = (scored: readonly Scored[], isBest: boolean): number =>
  scored.toSorted((x, y) => (isBest ? y.score - x.score : x.score - y.score) || x.attempt - y.attempt)[0]?.attempt ?? 1
