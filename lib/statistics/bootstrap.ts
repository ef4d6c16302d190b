import { quantile, sampleSd } from './means.ts'
import { seededBits } from './random.ts'

/**
 * Of the mean of values drawn with replacement: resamples of all values, whole clusters where they are scenario means
 * (Efron 1979). The percentile interval covers 95 %. Null of no values.
 */
export const bootstrap = (
  values: readonly number[],
  resamples: number,
  seed: number,
): { se: number | null; low: number | null; high: number | null; share_at_most_zero: number } | null => {
  if (values.length === 0) return null
  const bits = seededBits(seed)
  const means = Array.from({ length: resamples }, () => {
    let sum = 0
    for (let i = 0; i < values.length; i++) sum += values[Math.floor((bits() / 2 ** 32) * values.length)] as number
    return sum / values.length
  })
  return {
    se: sampleSd(means),
    low: quantile(means, 0.025),
    high: quantile(means, 0.975),
    share_at_most_zero: means.filter((mean) => mean <= 0).length / resamples,
  }
}
