/**
 * The chance that one of k attempts succeeds, of n of which c did: 1 - C(n-c, k) / C(n, k) (Chen et al. 2021,
 * arXiv:2107.03374). Null for k > n.
 */
export const passAtK = (n: number, c: number, k: number): number | null => {
  if (k > n) return null
  let none = 1
  for (let i = 0; i < k; i++) none *= Math.max(0, n - c - i) / (n - i)
  return 1 - none
}

/** The chance that all of k attempts succeed: C(c, k) / C(n, k) (tau-bench, arXiv:2406.12045). Null for k > n. */
export const passHatK = (n: number, c: number, k: number): number | null => {
  if (k > n) return null
  let all = 1
  for (let i = 0; i < k; i++) all *= Math.max(0, c - i) / (n - i)
  return all
}

/** The k worth telling of n attempts: each up to ten, then the powers of two and the multiples of five. */
export const toldK = (n: number): number[] =>
  Array.from({ length: n }, (_, i) => i + 1).filter((k) => k <= 10 || k % 5 === 0 || (k & (k - 1)) === 0)
