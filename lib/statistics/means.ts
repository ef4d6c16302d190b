import { normalQuantile, tQuantile } from './distributions.ts'

/** Sums positives and negatives separately in sorted order, so the last digit depends on neither order nor sign. */
export const sumOf = (values: readonly number[]): number => {
  const sizes = (sign: 1 | -1) => values.filter((each) => sign * each > 0).map(Math.abs)
  const [above = 0, below = 0] = [sizes(1), sizes(-1)].map((side) =>
    side.sort((a, b) => a - b).reduce((sum, each) => sum + each, 0),
  )
  return above - below
}

export const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : sumOf(values) / values.length

export const sampleSd = (values: readonly number[]): number | null => {
  const mean = meanOf(values)
  if (mean === null || values.length < 2) return null
  return Math.sqrt(sumOf(values.map((each) => (each - mean) ** 2)) / (values.length - 1))
}

/** sd / sqrt(n) (Miller 2024, "Adding Error Bars to Evals", arXiv:2411.00640). */
export const standardError = (values: readonly number[]): number | null => {
  const sd = sampleSd(values)
  return sd === null ? null : sd / Math.sqrt(values.length)
}

export interface Interval {
  low: number
  high: number
}

const ninetyFive = 0.975

/**
 * Wilson interval of k in n: center (p + z^2/2n) / (1 + z^2/n), half z sqrt(p(1-p)/n + z^2/4n^2) / (1 + z^2/n)
 * (Wilson 1927).
 */
export const wilson = (k: number, n: number): Interval | null => {
  if (n === 0) return null
  const z2 = normalQuantile(ninetyFive) ** 2
  const p = k / n
  const center = (p + z2 / (2 * n)) / (1 + z2 / n)
  const half = Math.sqrt(z2 * ((p * (1 - p)) / n + z2 / (4 * n * n))) / (1 + z2 / n)
  // At the ends the formula is off in the last digits.
  return { low: k === 0 ? 0 : center - half, high: k === n ? 1 : center + half }
}

export const zFrom = 30

export const tInterval = (mean: number, se: number, n: number): Interval =>
  around(mean, se, tQuantile(ninetyFive, n - 1))

export const zInterval = (mean: number, se: number): Interval => around(mean, se, normalQuantile(ninetyFive))

const around = (mean: number, se: number, quantile: number): Interval => ({
  low: mean - quantile * se,
  high: mean + quantile * se,
})

/** Linear interpolation (Hyndman and Fan 1996, type 7). */
export const quantile = (values: readonly number[], p: number): number | null => {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * p
  const low = sorted[Math.floor(place)] as number
  const high = sorted[Math.ceil(place)] as number
  return low + (high - low) * (place - Math.floor(place))
}

/** Probability that one of k attempts passes if c of n did: 1 - C(n-c, k) / C(n, k) (Chen et al. 2021, arXiv:2107.03374). */
export const passAtK = (n: number, c: number, k: number): number | null => {
  if (k > n) return null
  let none = 1
  for (let i = 0; i < k; i++) none *= Math.max(0, n - c - i) / (n - i)
  return 1 - none
}

/** Probability that all k attempts pass: C(c, k) / C(n, k) (tau-bench, arXiv:2406.12045). */
export const passHatK = (n: number, c: number, k: number): number | null => {
  if (k > n) return null
  let all = 1
  for (let i = 0; i < k; i++) all *= Math.max(0, c - i) / (n - i)
  return all
}

/** Each k up to ten, then powers of two and multiples of five. */
export const reportedKs = (n: number): number[] =>
  Array.from({ length: n }, (_, i) => i + 1).filter((k) => k <= 10 || k % 5 === 0 || (k & (k - 1)) === 0)

/** Estimates the remaining time with `slots` in parallel: evenly spread (left * mean / slots) and in whole waves. */
export const etaRange = (
  left: number,
  slots: number,
  finishedMs: readonly number[],
): { fluid: number; waves: number } | null => {
  const mean = meanOf(finishedMs)
  if (mean === null || slots < 1) return null
  return { fluid: (left * mean) / slots, waves: Math.ceil(left / slots) * mean }
}
