import { lnGamma, normalCdf, normalQuantile } from './distributions.ts'
import { type Interval, meanOf, sampleSd, sumOf, tInterval } from './means.ts'

/**
 * Mean of paired differences a_i - b_i with standard error and t interval (Miller 2024). `scale` is the largest |a_i| or
 * |b_i|, below whose last digits everything is rounding. No interval for fewer than two pairs or zero variance.
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

/** Sign patterns of up to 30 differences are enumerated as two halves of 2^15. */
const maxEnumerated = 30
/** Additions per p value: about 20 ms. */
const maxAdditions = 2e7
/** An average difference is rounded to one part in 32 of itself. */
const [minSteps, stepsPerSize] = [16_384, 16]

/**
 * Two-sided p of a zero mean difference: the share of the 2^n sign patterns whose |sum| reaches the observed one (Fisher 1935).
 * The sum is distributed as 2T - total, where T adds each size with probability 1/2.
 *
 * Exact if the sizes share a unit, as binary scores and means over attempts do, by convolution (Pagano and Tritchler 1983),
 * and for up to 30 sizes by enumerating two halves (Horowitz and Sahni 1974). Otherwise the sizes are rounded to a fine grid,
 * and above about 1,600 the sum is treated as normal. None of these limits how small p can be, so it can be adjusted for many
 * comparisons. Null without values.
 */
export const signFlipP = (differences: readonly number[], scale = largestOf(differences)): SignFlips | null => {
  if (differences.length === 0) return null
  const tested = differences.filter((each) => Math.abs(each) > 1e-12 * scale)
  const observed = Math.abs(sumOf(tested))
  if (tested.length === 0 || observed <= 1e-12 * scale) return { p: 1, method: 'exact' }
  tested.sort((a, b) => Math.abs(a) - Math.abs(b))
  const sizes = tested.map(Math.abs)
  const total = sumOf(sizes)
  const unit = commonUnit(sizes)
  if (unit !== null && isAffordable(sizes, total / unit)) return { p: probabilityOnGrid(tested, unit), method: 'exact' }
  if (sizes.length <= maxEnumerated)
    return { p: probabilityByEnumeration(sizes, observed - 1e-10 * total), method: 'exact' }
  const steps = Math.max(minSteps, stepsPerSize * sizes.length)
  if (isAffordable(sizes, steps)) return { p: probabilityOnGrid(tested, total / steps), method: 'rounded' }
  return {
    p: positive(2 * normalCdf(-observed / Math.sqrt(sumOf(sizes.map((each) => each * each))))),
    method: 'normal',
  }
}

const positive = (p: number) => Math.min(1, Math.max(p, Number.MIN_VALUE))

const isAffordable = (sizes: readonly number[], steps: number): boolean =>
  steps <= maxAdditions / 10 && (sizes[0] === sizes.at(-1) || (sizes.length * steps) / 2 <= maxAdditions)

/** Greatest common divisor of the sizes by Euclid's algorithm; null if rounding hides it. */
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

/** P(|sum| >= observed) on multiples of the unit. Adds only positive terms, so a small p stays exact. */
const probabilityOnGrid = (differences: readonly number[], unit: number): number => {
  const steps = differences.map((each) => Math.round(each / unit)).filter((each) => each !== 0)
  const counts = new Map<number, number>()
  for (const each of steps) counts.set(Math.abs(each), (counts.get(Math.abs(each)) ?? 0) + 1)
  const total = steps.reduce((sum, each) => sum + Math.abs(each), 0)
  const observed = Math.abs(steps.reduce((sum, each) => sum + each, 0))
  if (observed === 0) return 1
  const least = (total + observed) / 2
  let [probabilities, end] = [new Float64Array(total + 1), 0]
  probabilities[0] = 1
  for (const [size, count] of counts) {
    if (end === 0) {
      for (let i = 0; i <= count; i++) probabilities[i * size] = binomialProbability(count, i)
      end = count * size
      continue
    }
    for (let i = 0; i < count; i++) {
      for (let at = end + size; at >= 0; at--)
        probabilities[at] =
          (at > end ? 0 : (probabilities[at] as number) / 2) +
          (at < size ? 0 : (probabilities[at - size] as number) / 2)
      end += size
    }
  }
  let tail = 0
  for (let at = total; at >= least; at--) tail += probabilities[at] as number
  return positive(2 * tail)
}

/** P(|sum| >= least) over all sign patterns, pairing the sorted sums of two halves. */
const probabilityByEnumeration = (sizes: readonly number[], least: number): number => {
  const middle = Math.ceil(sizes.length / 2)
  const [left, right] = [signedSums(sizes.slice(0, middle)), signedSums(sizes.slice(middle))]
  let reached = 0
  let at = right.length
  for (const sum of left) {
    while (at > 0 && sum + (right[at - 1] as number) >= least) at--
    reached += right.length - at
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

/** C(n, i) / 2^n, exact while C(n, i) is below 2^53. */
const binomialProbability = (n: number, i: number): number => {
  if (n > 1000) return Math.exp(lnGamma(n + 1) - lnGamma(i + 1) - lnGamma(n - i + 1) - n * Math.LN2)
  const few = Math.min(i, n - i)
  let combinations = 1
  for (let j = 1; j <= few; j++) combinations = (combinations * (n - few + j)) / j
  return combinations * 2 ** -n
}

/**
 * McNemar's test on discordant counts b and c: exact two-sided p = min(1, 2 sum_{i <= min(b,c)} C(b+c, i) / 2^(b+c))
 * (McNemar 1947); mid-p counts the last term once (Fagerland et al. 2013).
 */
export const mcnemar = (b: number, c: number): { exact: number; mid: number } => {
  const n = b + c
  if (n === 0) return { exact: 1, mid: 1 }
  let tail = 0
  for (let i = 0; i <= Math.min(b, c); i++) tail += binomialProbability(n, i)
  const exact = Math.min(1, 2 * tail)
  return { exact, mid: b === c ? 1 : 2 * tail - binomialProbability(n, Math.min(b, c)) }
}

const defaultPower = 0.8

/** n = (z_{alpha/2} + z_power)^2 variance / delta^2 for alpha 0.05 (Miller 2024); `variance` is that of one difference. */
export const scenariosNeeded = (variance: number, delta: number, power = defaultPower): number | null =>
  delta === 0 ? null : ((normalQuantile(0.975) + normalQuantile(power)) ** 2 * variance) / delta ** 2

/** Holm-adjusted p values in the given order: running maximum of (m - j + 1) p_(j), at most 1 (Holm 1979). */
export const holm = (ps: readonly number[]): number[] => {
  const adjusted = new Array<number>(ps.length).fill(1)
  let largest = 0
  for (const [rank, at] of [...ps.keys()].sort((a, b) => (ps[a] as number) - (ps[b] as number)).entries()) {
    largest = Math.max(largest, Math.min(1, (ps.length - rank) * (ps[at] as number)))
    adjusted[at] = largest
  }
  return adjusted
}
