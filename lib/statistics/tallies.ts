import type { AttemptOutcome, Direction, MissingReason, ScoreScale, UsageFigures } from './figures.ts'
import { meanOf } from './means.ts'
import { type CountingRule, isBuiltIn } from './metrics.ts'

export interface Tally {
  scenario_id: string
  scenario_name: string
  scores: number[]
  mean: number | null
  duration_ms: number | null
  /** Counted attempts that don't report their cost. */
  n_without_cost: number
  why_missing: MissingReason | null
}

export type Tallies = ReadonlyMap<string, Tally>

/** Unspecified: a completed attempt without a score counts as a failure. */
const failures: readonly string[] = ['FAILED', 'TIMEOUT', 'COMPLETED']

type Scored = Pick<AttemptOutcome, 'state' | 'score' | 'failure_reason'>

/**
 * Returns undefined for an attempt that does not count. Harbor scores timeouts and reports them as completed; when failures
 * are excluded these are too, or only the lucky timeouts would count.
 */
export const countedScore = (outcome: Scored, rule: CountingRule): number | undefined => {
  const { state } = outcome
  if (rule === 'reported') return failures.includes(state) ? finiteScore(outcome) : undefined
  const isEligible = state === 'COMPLETED' || (state === 'TIMEOUT' && rule === 'zero')
  const score = isEligible ? finiteScore(outcome) : undefined
  if (rule === 'leave_out') return hasTimedOut(outcome) ? undefined : score
  return score ?? (failures.includes(state) ? 0 : undefined)
}

const finiteScore = ({ score }: Scored): number | undefined =>
  typeof score === 'number' && Number.isFinite(score) ? score : undefined

export const hasTimedOut = ({ state, failure_reason }: Scored): boolean =>
  state === 'TIMEOUT' || /time_?d?_?out/i.test(failure_reason?.exception_type ?? '')

/** Computed scores are off in the last digits. */
const rounding = 1e-9

export const scaleOf = (
  agents: readonly { outcomes: readonly Scored[] }[],
  { metric, direction = 'higher', threshold }: ScaleChoice = {},
): ScoreScale => {
  const is_unit_range =
    !isBuiltIn(metric) &&
    agents.every(({ outcomes }) =>
      outcomes.every((outcome) => {
        const score = countedScore(outcome, 'zero') ?? 0
        return score >= -rounding && score <= 1 + rounding
      }),
    )
  const lower_is_better = direction === 'lower'
  return { is_unit_range, threshold: threshold ?? (is_unit_range && !lower_is_better ? 1 : null), lower_is_better }
}

interface ScaleChoice {
  metric?: string | null | undefined
  direction?: Direction | undefined
  threshold?: number | undefined
}

export const passes = (
  score: number | null,
  { threshold, lower_is_better }: Pick<ScoreScale, 'threshold' | 'lower_is_better'>,
): boolean | null => {
  if (score === null || threshold === null) return null
  const slack = rounding * Math.abs(threshold)
  return lower_is_better ? score <= threshold + slack : score >= threshold - slack
}

const names = new Intl.Collator('en', { numeric: true })
const inCodeOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Natural order: `task-2` before `task-10`, with a fixed order for `task-1` and `task-01`. */
export const inNameOrder = (a: string, b: string): number => names.compare(a, b) || inCodeOrder(a, b)

/** Outcomes arrive in the order attempts started, which is random. */
export const byName = (
  a: Pick<Tally, 'scenario_id' | 'scenario_name'>,
  b: Pick<Tally, 'scenario_id' | 'scenario_name'>,
): number => inNameOrder(a.scenario_name, b.scenario_name) || inCodeOrder(a.scenario_id, b.scenario_id)

/** Results by scenario id. */
export const talliesOf = (outcomes: readonly AttemptOutcome[], rule: CountingRule): Tallies =>
  new Map(
    [...Map.groupBy(outcomes, ({ scenario_id }) => scenario_id)].map(([id, attempts]) => [id, tallyOf(attempts, rule)]),
  )

const tallyOf = (attempts: readonly AttemptOutcome[], rule: CountingRule): Tally => {
  const counted = attempts.filter((each) => countedScore(each, rule) !== undefined)
  const scores = counted.map((each) => countedScore(each, rule) as number)
  const [{ scenario_id, scenario_name }] = attempts as [AttemptOutcome]
  return {
    scenario_id,
    scenario_name,
    scores,
    mean: meanOf(scores),
    duration_ms: meanOf(durationsOf(attempts)),
    n_without_cost: counted.filter(({ usage }) => !isReported(usage?.cost_usd)).length,
    why_missing: scores.length > 0 ? null : whyMissing(attempts, rule),
  }
}

const whyMissing = (attempts: readonly AttemptOutcome[], rule: CountingRule): MissingReason => {
  if (attempts.every(({ state }) => state === 'CANCELED')) return 'cancelled'
  if (!attempts.some(({ state }) => failures.includes(state))) return 'unknown_state'
  return rule === 'reported' ? 'not_reported' : 'failures_left_out'
}

export const durationsOf = (outcomes: readonly Pick<AttemptOutcome, 'state' | 'duration_ms'>[]): number[] =>
  outcomes.flatMap(({ state, duration_ms }) =>
    state !== 'CANCELED' && typeof duration_ms === 'number' && Number.isFinite(duration_ms) ? [duration_ms] : [],
  )

const usageLabels = {
  n_input_tokens: 'input tokens',
  n_cache_tokens: 'cached tokens',
  n_output_tokens: 'output tokens',
  cost_usd: 'cost',
} as const

const isReported = (value: number | null | undefined): value is number => value != null && value >= 0

/** Usage over all attempts, excluding retries. A sum is null if no attempt reports the figure: unreported is not 0. */
export const usageOf = (outcomes: readonly AttemptOutcome[], reasons: Record<string, string>): UsageFigures => {
  const why = outcomes.find(({ usage }) => usage?.unknown_because)?.usage?.unknown_because
  const reported = (figure: keyof typeof usageLabels) => {
    const values = outcomes.map(({ usage }) => usage?.[figure]).filter(isReported)
    if (values.length === 0) reasons[figure] = why ?? `no attempt reports ${usageLabels[figure]}`
    return values
  }
  const sumOf = (figure: keyof typeof usageLabels) => {
    const values = reported(figure)
    return values.length === 0 ? null : values.reduce((a, b) => a + b, 0)
  }
  return {
    n_input_tokens: sumOf('n_input_tokens'),
    n_cache_tokens: sumOf('n_cache_tokens'),
    n_output_tokens: sumOf('n_output_tokens'),
    cost_usd: sumOf('cost_usd'),
    n_with_tokens: outcomes.filter(({ usage }) => usage?.n_input_tokens != null || usage?.n_output_tokens != null)
      .length,
    n_with_cost: reported('cost_usd').length,
  }
}
