import { normalQuantile, tQuantile } from './distributions.ts'

/** What is above zero and what is below, each in order: the last digit depends neither on the order nor on the sign. */
export const sumOf = (values: readonly number[]): number => {
  const sizes = (sign: 1 | -1) => values.filter((each) => sign * each > 0).map(Math.abs)
  const [above = 0, below = 0] = [sizes(1), sizes(-1)].map((side) =>
    side.sort((a, b) => a - b).reduce((sum, each) => sum + each, 0),
  )
  return above - below
}

/** Null of no values. */
export const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : sumOf(values) / values.length

/** sqrt( sum (s_i - m)^2 / (n - 1) ); null below two values. */
export const sampleSd = (values: readonly number[]): number | null => {
  const mean = meanOf(values)
  if (mean === null || values.length < 2) return null
  return Math.sqrt(sumOf(values.map((each) => (each - mean) ** 2)) / (values.length - 1))
}

/** Of the mean: sd / sqrt(n) (Miller 2024, "Adding Error Bars to Evals", arXiv:2411.00640). */
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
 * Of a share of k in n: centre (p + z^2/2n) / (1 + z^2/n), half z sqrt(p(1-p)/n + z^2/4n^2) / (1 + z^2/n)
 * (Wilson 1927). Null for n = 0.
 */
export const wilson = (k: number, n: number): Interval | null => {
  if (n === 0) return null
  const z2 = normalQuantile(ninetyFive) ** 2
  const p = k / n
  const centre = (p + z2 / (2 * n)) / (1 + z2 / n)
  const half = Math.sqrt(z2 * ((p * (1 - p)) / n + z2 / (4 * n * n))) / (1 + z2 / n)
  // At the ends the formula gives them but for the last digits.
  return { low: k === 0 ? 0 : centre - half, high: k === n ? 1 : centre + half }
}

/** From 30 values on the normal distribution stands for Student's t. */
export const zFrom = 30

/** mean ± t se, 95 %, with n - 1 degrees of freedom. */
export const tInterval = (mean: number, se: number, n: number): Interval =>
  around(mean, se, tQuantile(ninetyFive, n - 1))

/** mean ± z se, 95 %. */
export const zInterval = (mean: number, se: number): Interval => around(mean, se, normalQuantile(ninetyFive))

const around = (mean: number, se: number, quantile: number): Interval => ({
  low: mean - quantile * se,
  high: mean + quantile * se,
})

/** By linear interpolation between the values in order (Hyndman and Fan 1996, type 7). Null of no values. */
export const quantile = (values: readonly number[], p: number): number | null => {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * p
  const low = sorted[Math.floor(place)] as number
  const high = sorted[Math.ceil(place)] as number
  return low + (high - low) * (place - Math.floor(place))
}
