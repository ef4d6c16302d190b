export interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
}

export const lineDiff = (before: string, after: string): DiffLine[] =>
  sequenceDiff(before.split('\n'), after.split('\n')).map(({ kind, value: text }) => ({ kind, text }))

interface DiffItem<T> {
  kind: DiffLine['kind']
  value: T
}

/** Above this many pairs, a diff is one removal and one addition. Two bytes each. */
const maxPairs = 16_000_000

/** Longest common subsequence. */
export const sequenceDiff = <T>(a: readonly T[], b: readonly T[]): DiffItem<T>[] => {
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const items = (kind: DiffLine['kind'], values: readonly T[]) => values.map((value) => ({ kind, value }))
  return [
    ...items('same', a.slice(0, start)),
    ...middleDiff(a.slice(start, a.length - end), b.slice(start, b.length - end), items),
    ...items('same', a.slice(a.length - end)),
  ]
}

const middleDiff = <T>(
  a: readonly T[],
  b: readonly T[],
  items: (kind: DiffLine['kind'], values: readonly T[]) => DiffItem<T>[],
): DiffItem<T>[] => {
  if (a.length * b.length > maxPairs) return [...items('removed', a), ...items('added', b)]
  const width = b.length + 1
  const longest = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => longest[i * width + j] as number
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const diff: DiffItem<T>[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length)
    if (a[i] === b[j]) {
      diff.push({ kind: 'same', value: a[i] as T })
      i++
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) diff.push({ kind: 'removed', value: a[i++] as T })
    else diff.push({ kind: 'added', value: b[j++] as T })
  return [...diff, ...items('removed', a.slice(i)), ...items('added', b.slice(j))]
}
