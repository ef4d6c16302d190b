import type { AttemptOutcome, Direction, FailureRule } from './figures.ts'

/** Metrics of every attempt that reports them; all others are reward keys. */
export const builtInMetrics = ['@cost_usd', '@duration_ms', '@tokens'] as const
type BuiltInMetric = (typeof builtInMetrics)[number]

export const isBuiltIn = (metric: string | null | undefined): metric is BuiltInMetric =>
  builtInMetrics.some((each) => each === metric)

export const defaultDirection = (metric: string | null | undefined): Direction =>
  isBuiltIn(metric) ? 'lower' : 'higher'

type Measured = Pick<AttemptOutcome, 'rewards' | 'duration_ms' | 'usage'>

/** Value of a metric in an attempt; null if not reported. */
export const metricValue = (outcome: Measured, metric: string): number | null =>
  isBuiltIn(metric) ? builtInValue[metric](outcome) : finite(ownValue(outcome.rewards, metric))

const ownValue = (rewards: Measured['rewards'], metric: string): unknown =>
  rewards && Object.hasOwn(rewards, metric) ? rewards[metric] : null

const builtInValue: Record<BuiltInMetric, (outcome: Measured) => number | null> = {
  '@cost_usd': ({ usage }) => notNegative(usage?.cost_usd),
  '@duration_ms': ({ duration_ms }) => notNegative(duration_ms),
  '@tokens': ({ usage }) => {
    const [input, output] = [notNegative(usage?.n_input_tokens), notNegative(usage?.n_output_tokens)]
    return input === null || output === null ? null : input + output
  },
}

const finite = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)

const notNegative = (value: unknown): number | null => {
  const number = finite(value)
  return number === null || number < 0 ? null : number
}

/** Failure rule of a metric. `reported`: every attempt with a value counts unless it was canceled. */
export type CountingRule = FailureRule | 'reported'

/** A 0 for failures would reward them where lower is better, so they are excluded; cost and time are spent either way. */
export const countingRule = (
  rule: FailureRule,
  metric: string | null | undefined,
  direction: Direction,
): CountingRule => {
  if (rule === 'leave_out') return rule
  return isBuiltIn(metric) ? 'reported' : direction === 'lower' ? 'leave_out' : rule
}
