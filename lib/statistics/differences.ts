import { lnGamma, normalQuantile } from './distributions.ts'
import { type Interval, meanOf, sampleSd, standardError, sumOf, tInterval } from './means.ts'
import { seededBits } from './random.ts'

/** Of paired values a_i - b_i: their mean, its SE and Student's interval (Miller 2024). Null below two pairs, but the mean. */
export const pairedDifference = (
  differences: readonly number[],
): { mean: number | null; sd: number | null; se: number | null; interval: Interval | null } => {
  const mean = withoutRounding(meanOf(differences), differences)
  const se = standardError(differences)
  return {
    mean,
    sd: sampleSd(differences),
    se,
    interval: mean === null || se === null ? null : tInterval(mean, se, differences.length),
  }
}

/** 0.1 + 0.2 and 0.3 differ in their last digit: what is left of them is no difference. */
const withoutRounding = (mean: number | null, differences: readonly number[]): number | null =>
  mean !== null && Math.abs(mean) <= 1e-12 * Math.max(1, ...differences.map(Math.abs)) ? 0 : mean

export interface SignFlips {
  p: number
  exact: boolean
  /** The patterns of signs that were looked at. */
  permutations: number
  seed: number | null
}

/** Up to so many differences all patterns of signs are looked at. */
const mostExact = 20
const sampled = 10_000
const seed = 1

/**
 * Two-sided p that the mean difference is zero: the share of the 2^n patterns of signs whose |sum| reaches the one that
 * was seen (Fisher 1935). All of them up to n = 20; else a seeded sample, the one that was seen counted in, which keeps p
 * above 0 (Phipson and Smyth 2010). The signs and the order of the differences do not matter. Null of none.
 */
export const signFlipP = (differences: readonly number[]): SignFlips | null => {
  const n = differences.length
  if (n === 0) return null
  const seen = Math.abs(sumOf(differences))
  // A difference of zero is the same under both signs.
  const sizes = differences.map(Math.abs).filter((each) => each > 0)
  sizes.sort((a, b) => a - b)
  const atLeast = seen - 1e-9 * Math.max(1, seen)
  if (n <= mostExact) return { p: shareOfAll(sizes, atLeast), exact: true, permutations: 2 ** n, seed: null }
  const p = (1 + countOfSample(sizes, atLeast)) / (1 + sampled)
  return { p, exact: false, permutations: sampled, seed }
}

/** Each pattern differs from the one before in one sign (a Gray code); the others are those with all signs turned. */
const shareOfAll = (sizes: readonly number[], atLeast: number): number => {
  let sum = sizes.reduce((total, each) => total + each, 0)
  const signs = new Float64Array(sizes.length).fill(1)
  const patterns = 2 ** Math.max(0, sizes.length - 1)
  let reached = 0
  for (let i = 1; ; i++) {
    if (Math.abs(sum) >= atLeast) reached++
    if (i === patterns) return reached / patterns
    const turned = 31 - Math.clz32(i & -i)
    sum -= 2 * (signs[turned] as number) * (sizes[turned] as number)
    signs[turned] = -(signs[turned] as number)
  }
}

/** Eight signs are drawn at a time; their sum stands in a table of the 256 there can be. */
const countOfSample = (sizes: readonly number[], atLeast: number): number => {
  const sums = signedSums(sizes)
  const bits = seededBits(seed)
  let reached = 0
  for (let round = 0; round < sampled; round++) {
    let sum = 0
    let word = 0
    for (let at = 0; at < sums.length; at += 256) {
      word = at % 1024 === 0 ? bits() : word >>> 8
      sum += sums[at + (word & 255)] as number
    }
    if (Math.abs(sum) >= atLeast) reached++
  }
  return reached
}

/** For each eight sizes the 256 sums of them under all signs, one table after the other. */
const signedSums = (sizes: readonly number[]): Float64Array => {
  const sums = new Float64Array(256 * Math.ceil(sizes.length / 8))
  for (const [i, size] of sizes.entries()) {
    const table = 256 * Math.floor(i / 8)
    for (let signs = 0; signs < 256; signs++)
      sums[table + signs] = (sums[table + signs] as number) + ((signs >> (i % 8)) & 1 ? size : -size)
  }
  return sums
}

/**
 * Whether the scenarios that only one of two passes lean to one side, b to the one and c to the other: exact two-sided
 * p = min(1, 2 sum_{i <= min(b,c)} C(b+c, i) / 2^(b+c)) (McNemar 1947); mid-p takes the last term once (Fagerland et al.
 * 2013). Without any, p is 1.
 */
export const mcnemar = (b: number, c: number): { exact: number; mid: number } => {
  const n = b + c
  if (n === 0) return { exact: 1, mid: 1 }
  const chance = (i: number) => Math.exp(lnGamma(n + 1) - lnGamma(i + 1) - lnGamma(n - i + 1) - n * Math.LN2)
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
