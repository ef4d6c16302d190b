/** Standard normal CDF: Phi(x) = 1/2 + phi(x) (x + x^3/3 + x^5/(3*5) + …) (Marsaglia 2004, J. Stat. Softw. 11). */
export const normalCdf = (x: number): number => {
  if (Math.abs(x) > 9) return x > 0 ? 1 : 0
  let term = x
  let sum = x
  for (let i = 3; sum + term !== sum; i += 2) {
    term *= (x * x) / i
    sum += term
  }
  return 0.5 + (sum * Math.exp(-0.5 * x * x)) / Math.sqrt(2 * Math.PI)
}

export const normalQuantile = (p: number): number => inverse(normalCdf, p, 9)

/** Student's t: for t > 0, 1 - I_x(df/2, 1/2) / 2 with x = df / (df + t^2) (Abramowitz and Stegun 26.7.1). */
export const tCdf = (t: number, df: number): number => {
  const tail = incompleteBeta(df / (df + t * t), df / 2, 0.5) / 2
  return t > 0 ? 1 - tail : tail
}

export const tQuantile = (p: number, df: number): number => {
  let bound = 10
  while (tCdf(bound, df) < Math.max(p, 1 - p)) bound *= 10
  return inverse((t) => tCdf(t, df), p, bound)
}

/** Inverts a CDF by bisection. */
const inverse = (cdf: (x: number) => number, p: number, bound: number): number => {
  let low = -bound
  let high = bound
  for (;;) {
    const middle = (low + high) / 2
    if (middle <= low || middle >= high || high - low < 1e-14) return middle
    if (cdf(middle) < p) low = middle
    else high = middle
  }
}

/** Log gamma, Lanczos with g = 7 and nine terms (Numerical Recipes, 3rd ed., 6.1). */
export const lnGamma = (x: number): number => {
  let sum = lanczos[0] as number
  for (let i = 1; i < lanczos.length; i++) sum += (lanczos[i] as number) / (x - 1 + i)
  const base = x + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(sum)
}

const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]

/** Regularized incomplete beta I_x(a, b) by its continued fraction (Numerical Recipes, 3rd ed., 6.4). */
const incompleteBeta = (x: number, a: number, b: number): number => {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1
  const front = Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(x, a, b)) / a : 1 - (front * betaFraction(1 - x, b, a)) / b
}

/** Lentz's method, two terms per step. */
const betaFraction = (x: number, a: number, b: number): number => {
  const awayFromZero = (value: number) => (Math.abs(value) < 1e-300 ? 1e-300 : value)
  let c = 1
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / awayFromZero(1 + even * d)
    c = awayFromZero(1 + even / c)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / awayFromZero(1 + odd * d)
    c = awayFromZero(1 + odd / c)
    fraction *= d * c
    if (Math.abs(d * c - 1) < 1e-15) break
  }
  return fraction
}
