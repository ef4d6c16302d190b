export interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Above this many pairs of lines, the differing part is reported as one removal and one addition. */
const mostPairs = 4_000_000

/** Diffs by the longest common subsequence, after trimming equal lines at both ends. */
export const lineDiff = (before: string, after: string): DiffLine[] => {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const same = (lines: readonly string[]) => lines.map((text): DiffLine => ({ kind: 'same', text }))
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ]
}

const middle = (a: readonly string[], b: readonly string[]): DiffLine[] => {
  const removed = (text = ''): DiffLine => ({ kind: 'removed', text })
  const added = (text = ''): DiffLine => ({ kind: 'added', text })
  if (a.length * b.length > mostPairs) return [...a.map(removed), ...b.map(added)]
  const width = b.length + 1
  // longest[i * width + j]: of the lines from i and from j.
  const longest = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => longest[i * width + j] as number
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length)
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] as string })
      i++
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(removed(a[i++]))
    else lines.push(added(b[j++]))
  return [...lines, ...a.slice(i).map(removed), ...b.slice(j).map(added)]
}
