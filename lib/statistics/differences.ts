import { lnGamma, normalCdf, normalQuantile } from './distributions.ts'
import { type Interval, meanOf, sampleSd, sumOf, tInterval } from './means.ts'

/**
 * The mean of paired differences a_i - b_i, its standard error and Student's interval (Miller 2024). `scale` is the largest
 * |a_i| or |b_i|: what is left below its last digits is rounding. No interval below two pairs, nor where all differences
 * are equal: their spread is unknown then, and the interval would be a point.
 */
export const pairedDifference = (
  differences: readonly number[],
  scale = largestOf(differences),
): { mean: number | null; sd: number | null; se: number | null; interval: Interval | null } => {
  const isRounding = (value: number) => Math.abs(value) <= 1e-12 * scale
  const exact = (value: number | null) => (value !== null && isRounding(value) ? 0 : value)
  const mean = exact(meanOf(differences))
  const sd = exact(sampleSd(differences))
  const se = sd === null ? null : sd / Math.sqrt(differences.length)
  return { mean, sd, se, interval: mean === null || !se ? null : tInterval(mean, se, differences.length) }
}

const largestOf = (values: readonly number[]): number =>
  values.reduce((most, each) => Math.max(most, Math.abs(each)), 0)

export interface SignFlips {
  p: number
  method: 'exact' | 'rounded' | 'normal'
}

/** Most differences whose sign patterns are counted one by one, as two halves of 2^15. */
const mostCounted = 30
/** Most additions for one p: about 20 ms. */
const mostAdditions = 2e7
/** A size of average magnitude keeps one part in 32 on the rounded grid, the largest ones far more. */
const [fewestSteps, stepsPerSize] = [16_384, 16]

/**
 * Two-sided p that the mean difference is zero: the share of the 2^n sign patterns whose |sum| reaches the observed one
 * (Fisher 1935). The sum is distributed as 2T - total, where T adds each size with chance 1/2.
 *
 * Exact where the sizes are multiples of one unit, as those of binary scores and of means over attempts are, by adding one
 * size after the other to the distribution of T (Pagano and Tritchler 1983); and up to 30 sizes by counting all patterns in
 * two halves (Horowitz and Sahni 1974). Otherwise the sizes are rounded to a fine grid first, and from about 1,600 on the
 * sum is taken as normal. None of these has a smallest p, so that many comparisons can be adjusted. Null without values.
 */
export const signFlipP = (differences: readonly number[], scale = largestOf(differences)): SignFlips | null => {
  if (differences.length === 0) return null
  const tested = differences.filter((each) => Math.abs(each) > 1e-12 * scale)
  const seen = Math.abs(sumOf(tested))
  if (tested.length === 0 || seen <= 1e-12 * scale) return { p: 1, method: 'exact' }
  tested.sort((a, b) => Math.abs(a) - Math.abs(b))
  const sizes = tested.map(Math.abs)
  const total = sumOf(sizes)
  const unit = commonUnit(sizes)
  if (unit !== null && isAffordable(sizes, total / unit)) return { p: chanceOnGrid(tested, unit), method: 'exact' }
  if (sizes.length <= mostCounted) return { p: chanceByCounting(sizes, seen - 1e-10 * total), method: 'exact' }
  const steps = Math.max(fewestSteps, stepsPerSize * sizes.length)
  if (isAffordable(sizes, steps)) return { p: chanceOnGrid(tested, total / steps), method: 'rounded' }
  return { p: positive(2 * normalCdf(-seen / Math.sqrt(sumOf(sizes.map((each) => each * each))))), method: 'normal' }
}

const positive = (p: number) => Math.min(1, Math.max(p, Number.MIN_VALUE))

/** Equal sizes, of which all may be one, are added at once. */
const isAffordable = (sizes: readonly number[], steps: number): boolean =>
  steps <= mostAdditions / 10 && (sizes[0] === sizes.at(-1) || (sizes.length * steps) / 2 <= mostAdditions)

/** The largest number that all sizes are multiples of, by Euclid's algorithm; null where rounding hides it. */
const commonUnit = (sizes: readonly number[]): number | null => {
  const largest = sizes.at(-1) ?? 0
  const least = 1e-6 * largest
  let unit = 0
  for (const size of sizes) {
    let [a, b] = [size, unit]
    while (b > least) [a, b] = [b, Math.abs(a - b * Math.round(a / b))]
    unit = a
    if (unit <= least) return null
  }
  const isMultiple = (size: number) => Math.abs(size / unit - Math.round(size / unit)) < 1e-6
  return sizes.every(isMultiple) ? unit : null
}

/** P(|sum| >= the observed one), all rounded to multiples of the unit. Only positive terms are added: a small p is exact too. */
const chanceOnGrid = (differences: readonly number[], unit: number): number => {
  const steps = differences.map((each) => Math.round(each / unit)).filter((each) => each !== 0)
  const counts = new Map<number, number>()
  for (const each of steps) counts.set(Math.abs(each), (counts.get(Math.abs(each)) ?? 0) + 1)
  const total = steps.reduce((sum, each) => sum + Math.abs(each), 0)
  const seen = Math.abs(steps.reduce((sum, each) => sum + each, 0))
  if (seen === 0) return 1
  const least = (total + seen) / 2
  let [chances, end] = [new Float64Array(total + 1), 0]
  chances[0] = 1
  for (const [size, count] of counts) {
    if (end === 0) {
      for (let i = 0; i <= count; i++) chances[i * size] = binomialChance(count, i)
      end = count * size
      continue
    }
    for (let i = 0; i < count; i++) {
      for (let at = end + size; at >= 0; at--)
        chances[at] =
          (at > end ? 0 : (chances[at] as number) / 2) + (at < size ? 0 : (chances[at - size] as number) / 2)
      end += size
    }
  }
  let tail = 0
  for (let at = total; at >= least; at--) tail += chances[at] as number
  return positive(2 * tail)
}

/** P(|sum| >= least) over all sign patterns: each sum of one half with those of the other that reach far enough. */
const chanceByCounting = (sizes: readonly number[], least: number): number => {
  const middle = Math.ceil(sizes.length / 2)
  const [some, others] = [signedSums(sizes.slice(0, middle)), signedSums(sizes.slice(middle))]
  let reached = 0
  let at = others.length
  for (const sum of some) {
    while (at > 0 && sum + (others[at - 1] as number) >= least) at--
    reached += others.length - at
  }
  return (2 * reached) / 2 ** sizes.length
}

const signedSums = (sizes: readonly number[]): Float64Array => {
  let sums = Float64Array.of(0)
  for (const size of sizes) {
    const both = new Float64Array(2 * sums.length)
    both.set(sums.map((sum) => sum - size))
    both.set(
      sums.map((sum) => sum + size),
      sums.length,
    )
    sums = both
  }
  return sums.sort()
}

/** C(n, i) / 2^n, without rounding while C(n, i) is below 2^53. */
const binomialChance = (n: number, i: number): number => {
  if (n > 1000) return Math.exp(lnGamma(n + 1) - lnGamma(i + 1) - lnGamma(n - i + 1) - n * Math.LN2)
  const few = Math.min(i, n - i)
  let combinations = 1
  for (let j = 1; j <= few; j++) combinations = (combinations * (n - few + j)) / j
  return combinations * 2 ** -n
}

/**
 * Whether the scenarios that only one of two passes lean to one side, b to the one and c to the other: exact two-sided
 * p = min(1, 2 sum_{i <= min(b,c)} C(b+c, i) / 2^(b+c)) (McNemar 1947); mid-p takes the last term once (Fagerland et al.
 * 2013). Without any, p is 1.
 */
export const mcnemar = (b: number, c: number): { exact: number; mid: number } => {
  const n = b + c
  if (n === 0) return { exact: 1, mid: 1 }
  const chance = (i: number) => binomialChance(n, i)
  let tail = 0
  for (let i = 0; i <= Math.min(b, c); i++) tail += chance(i)
  const exact = Math.min(1, 2 * tail)
  return { exact, mid: b === c ? 1 : 2 * tail - chance(Math.min(b, c)) }
}

const usualPower = 0.8

/**
 * n = (z_{alpha/2} + z_power)^2 variance / delta^2, alpha 0.05 (Miller 2024), where the variance is that of
 * one difference: w^2 + sA^2/KA + sB^2/KB, or simply the one that was seen. Not rounded. Null for delta = 0.
 */
export const scenariosToSettle = (variance: number, delta: number, power = usualPower): number | null =>
  delta === 0 ? null : ((normalQuantile(0.975) + normalQuantile(power)) ** 2 * variance) / delta ** 2
