import type { AttemptOutcome, AttemptUsage, UsageFigures } from './figures.ts'

const figures = ['n_input_tokens', 'n_cache_tokens', 'n_output_tokens', 'cost_usd'] as const

/** Usage over all attempts, excluding retries. A sum is null if no attempt reports the figure: unreported is not 0. */
export const usageOf = (outcomes: readonly AttemptOutcome[], reasons: Record<string, string>): UsageFigures => {
  const reported = (figure: keyof AttemptUsage) =>
    outcomes.flatMap(({ usage }) => {
      const value = usage?.[figure]
      return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? [value] : []
    })
  const sum = (values: readonly number[]) => (values.length === 0 ? null : values.reduce((a, b) => a + b, 0))
  const why = mostFrequent(outcomes.flatMap(({ usage }) => usage?.unknown_because || []))
  const values = Object.fromEntries(figures.map((figure) => [figure, reported(figure)])) as Record<
    (typeof figures)[number],
    number[]
  >
  for (const figure of figures)
    if (values[figure].length === 0) reasons[figure] = why ?? `no attempt reports ${labels[figure]}`
  return {
    n_input_tokens: sum(values.n_input_tokens),
    n_cache_tokens: sum(values.n_cache_tokens),
    n_output_tokens: sum(values.n_output_tokens),
    cost_usd: sum(values.cost_usd),
    n_with_tokens: outcomes.filter(({ usage }) => usage?.n_input_tokens != null || usage?.n_output_tokens != null)
      .length,
    n_with_cost: values.cost_usd.length,
  }
}

/** An attempt that never started has a different reason from those that ran. */
const mostFrequent = (words: readonly string[]): string | undefined => {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))[0]?.[0]
}

const labels: Record<(typeof figures)[number], string> = {
  n_input_tokens: 'input tokens',
  n_cache_tokens: 'cached tokens',
  n_output_tokens: 'output tokens',
  cost_usd: 'cost',
}
