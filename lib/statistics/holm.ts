/** Adjusted for being several, in the order given: the largest of (m - j + 1) p_(j) up to each, at most 1 (Holm 1979). */
export const holm = (ps: readonly number[]): number[] => {
  const adjusted = new Array<number>(ps.length).fill(1)
  let largest = 0
  for (const [rank, at] of [...ps.keys()].sort((a, b) => (ps[a] as number) - (ps[b] as number)).entries()) {
    largest = Math.max(largest, Math.min(1, (ps.length - rank) * (ps[at] as number)))
    adjusted[at] = largest
  }
  return adjusted
}
