import { describe, expect, it } from 'vitest'
import { holm, mcnemar, pairedDifference, scenariosNeeded, signFlipP } from './differences.ts'
import { normalCdf, normalQuantile, tCdf, tQuantile } from './distributions.ts'
import {
  etaRange,
  meanOf,
  passAtK,
  passHatK,
  quantile,
  reportedKs,
  sampleSd,
  standardError,
  tInterval,
  wilson,
  zInterval,
} from './means.ts'

// Computed independently of this code, to six digits.
const a = [1, 0.5, 0, 1, 0.75, 0.25, 1, 0, 0.5, 1]
const b = [1, 0, 0, 0.5, 0.75, 0.5, 0.5, 0, 0.25, 1]
const d = [0, 0.5, 0, 0.5, 0, -0.25, 0.5, 0, 0.25, 0]

const six = (value: number | null | undefined) => (value == null ? value : Math.round(value * 1e6) / 1e6)
const ends = (interval: { low: number; high: number } | null) => interval && [six(interval.low), six(interval.high)]

describe('distributions', () => {
  it('include the normal distribution', () => {
    expect(six(normalQuantile(0.975))).toBe(1.959964)
    expect(six(normalQuantile(0.8))).toBe(0.841621)
    expect(six(2 * (1 - normalCdf(1.765045)))).toBe(0.077556)
    expect(normalCdf(-1.3) + normalCdf(1.3)).toBeCloseTo(1, 12)
  })

  it.each([
    [1, 12.706205],
    [2, 4.302653],
    [9, 2.262157],
    [28, 2.048407],
    [1249, 1.961865],
  ])("include Student's t with %i degrees of freedom", (df, expected) => {
    expect(six(tQuantile(0.975, df))).toBe(expected)
    expect(tCdf(tQuantile(0.975, df), df)).toBeCloseTo(0.975, 10)
    expect(tCdf(-1.2, df)).toBeCloseTo(1 - tCdf(1.2, df), 12)
  })
})

describe('mean and standard error', () => {
  it('of A and B', () => {
    expect([six(meanOf(a)), six((sampleSd(a) as number) ** 2), six(sampleSd(a)), six(standardError(a))]).toEqual([
      0.6, 0.169444, 0.411636, 0.130171,
    ])
    expect([six(meanOf(b)), six(standardError(b))]).toEqual([0.45, 0.122474])
    expect(ends(zInterval(0.6, standardError(a) as number))).toEqual([0.34487, 0.85513])
    expect(ends(tInterval(0.6, standardError(a) as number, 10))).toEqual([0.305533, 0.894467])
  })

  it('need two values for an error', () => {
    expect([meanOf([0.5]), standardError([0.5]), standardError([]), meanOf([])]).toEqual([0.5, null, null, null])
  })

  it.each([
    [7, 10, 0.396778, 0.892209],
    [10, 10, 0.722467, 1],
    [1, 1, 0.206549, 1],
    [0, 10, 0, 0.277533],
    [45, 89, 0.403686, 0.607085],
  ])('Wilson: %i of %i', (k, n, low, high) => {
    expect(ends(wilson(k, n))).toEqual([low, high])
  })

  it('Wilson: none of 0', () => {
    expect(wilson(0, 0)).toBeNull()
  })
})

describe('paired difference', () => {
  it('of A over B', () => {
    const { mean, sd, se } = pairedDifference(d)
    expect([six(mean), six(sd), six(se)]).toEqual([0.15, 0.268742, 0.084984])
    expect(ends(zInterval(mean as number, se as number))).toEqual([-0.016565, 0.316565])
    expect(six((mean as number) / (se as number))).toBe(1.765045)
    expect(pairedDifference([0.5])).toEqual({ mean: 0.5, sd: null, se: null, interval: null })
  })

  it('by all 1024 patterns of signs', () => {
    expect(signFlipP(d)).toEqual({ p: 192 / 1024, method: 'exact' })
    expect(signFlipP([])).toBeNull()
    expect(signFlipP([0, 0])).toEqual({ p: 1, method: 'exact' })
  })

  // Counted over all 2^n patterns with numpy.
  it.each([
    ['binary, as McNemar', 100, (i: number) => [1, 1, 0, -1, 0][i % 5] as number, 'exact', mcnemar(40, 20).exact],
    ['thirds', 24, (i: number) => ((i * 7) % 5) / 3 - 0.5, 'exact', 0.15566885471343994],
    ['real numbers', 22, (i: number) => Math.sin(i + 1) + 0.4, 'exact', 0.005866050720214844],
    ['more real numbers', 34, (i: number) => Math.sin(i + 1) + 0.5, 'rounded', 0.0001255798852071166],
    ['one far larger', 34, (i: number) => (i === 3 ? 30 : 1) * (Math.cos(i) + 0.6), 'rounded', 0.5844292192487046],
  ] as const)('by sign flips: %s', (_, n, differenceAt, method, p) => {
    const found = signFlipP(Array.from({ length: n }, (_, i) => differenceAt(i)))
    expect(found?.method).toBe(method)
    expect((found?.p ?? 0) / p - 1).toBeLessThan(method === 'exact' ? 1e-9 : 0.01)
    expect((found?.p ?? 0) / p - 1).toBeGreaterThan(method === 'exact' ? -1e-9 : -0.01)
  })

  it('of thousands of real numbers by the normal distribution', () => {
    const many = Array.from({ length: 2000 }, (_, i) => Math.sin(i) + 0.03)
    const z = ((meanOf(many) as number) * many.length) / Math.sqrt(many.reduce((sum, each) => sum + each * each, 0))
    expect(signFlipP(many)?.method).toBe('normal')
    expect(signFlipP(many)?.p).toBeCloseTo(2 * normalCdf(-z), 12)
  })
})

it.each([
  [9, 2, 0.06543, 0.038574, 4.454545, 0.034808],
  [5, 1, 0.21875, 0.125, 2.666667, 0.10247],
  [6, 0, 0.03125, 0.015625, 6, 0.014306],
  [5, 0, 0.0625, 0.03125, 5, 0.025347],
  [3, 3, 1, 1, 0, 1],
])('McNemar: %i and %i', (left, right, exact, mid, chi2, p) => {
  const found = mcnemar(left, right)
  expect([six(found.exact), six(found.mid)]).toEqual([exact, mid])
  expect(mcnemar(right, left)).toEqual(found)
  const x = (left - right) ** 2 / (left + right)
  expect([six(x), six(2 * (1 - normalCdf(Math.sqrt(x))))]).toEqual([chi2, p])
})

it('McNemar: no disagreement, and many', () => {
  expect(mcnemar(0, 0)).toEqual({ exact: 1, mid: 1 })
  expect(mcnemar(700, 550).exact).toBeGreaterThan(0)
  expect(mcnemar(700, 550).exact).toBeLessThan(0.0001)
})

it.each([
  [5, 2, 1, 0.4, 0.4],
  [5, 2, 2, 0.7, 0.1],
  [5, 2, 3, 0.9, 0],
  [5, 2, 4, 1, 0],
  [10, 3, 5, 0.916667, 0],
  [4, 3, 2, 1, 0.5],
])('pass@k and pass^k: %i attempts, %i good ones, k = %i', (n, c, k, at, hat) => {
  expect([six(passAtK(n, c, k)), six(passHatK(n, c, k))]).toEqual([at, hat])
})

it('pass@k and pass^k of a job are means over its scenarios, and none for more attempts than there are', () => {
  const over = (f: typeof passAtK, k: number) => six(meanOf([0, 1, 4].map((c) => f(4, c, k) as number)))
  expect([over(passAtK, 1), over(passAtK, 2), over(passAtK, 4), over(passHatK, 2)]).toEqual([
    0.416667, 0.5, 0.666667, 0.333333,
  ])
  expect([passAtK(4, 2, 5), passHatK(4, 2, 5)]).toEqual([null, null])
  expect(reportedKs(20)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 20])
})

it('Holm', () => {
  expect(holm([0.01, 0.04, 0.03]).map(six)).toEqual([0.03, 0.06, 0.06])
  expect(holm([0.9, 0.8])).toEqual([1, 1])
  expect(holm([])).toEqual([])
})

it('sample size', () => {
  const needed = (k: number) => scenariosNeeded(1 / 9 + 2 / (6 * k), 0.03) as number
  expect(six((normalQuantile(0.975) + normalQuantile(0.8)) ** 2)).toBe(7.84888)
  expect([needed(1).toFixed(2), needed(10).toFixed(2)]).toEqual(['3875.99', '1259.70'])
  // 968.998 with the square of the quantiles rounded to six digits.
  expect(needed(Number.POSITIVE_INFINITY)).toBeCloseTo(968.9975, 4)
  expect(scenariosNeeded(0.1, 0)).toBeNull()
})

it('scores, durations and remaining time of a job', () => {
  expect([meanOf([1, 0.5, 0, 0, 0]), meanOf([1, 0.5, 0])]).toEqual([0.3, 0.5])
  const durations = [12, 15, 18, 20, 22, 30, 45, 60, 90, 300]
  expect([0.5, 0.25, 0.75, 0.95].map((p) => six(quantile(durations, p)))).toEqual([26, 18.5, 56.25, 205.5])
  expect(quantile([], 0.5)).toBeNull()
  const eta = etaRange(7, 3, [40, 60, 50, 70])
  expect([six(eta?.fluid), eta?.waves]).toEqual([128.333333, 165])
  expect(etaRange(7, 3, [])).toBeNull()
})
