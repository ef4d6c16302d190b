const clause = /^(===?|!=|~=|<=?|>=?)\s*(\d+(?:\.\d+)*)(\.\*)?$/

/** Whether the leading numbers of a version satisfy a constraint such as `>=3.10,<4` or `~=3.11`; undefined if invalid. */
export const meetsConstraint = (version: string, constraint: string): boolean | undefined => {
  const actual = numbers(/^\d+(\.\d+)*/.exec(version)?.[0] ?? '')
  let meets = true
  for (const text of constraint.split(',').map((part) => part.trim())) {
    if (text === '') continue
    const [, operator = '', required = '', wildcard] = clause.exec(text) ?? []
    if (operator === '' || (wildcard && operator !== '==' && operator !== '!=')) return undefined
    meets &&= satisfies(actual, operator, numbers(required), wildcard !== undefined)
  }
  return meets
}

const satisfies = (actual: number[], operator: string, required: number[], isPrefix: boolean): boolean => {
  const order = compare(isPrefix ? actual.slice(0, required.length) : actual, required)
  // ~=3.11.2 means >=3.11.2 and ==3.11.*.
  if (operator === '~=') return order >= 0 && compare(actual.slice(0, required.length - 1), required.slice(0, -1)) === 0
  if (operator === '!=') return order !== 0
  return (
    (operator.includes('=') && order === 0) || (operator[0] === '>' && order > 0) || (operator[0] === '<' && order < 0)
  )
}

const numbers = (text: string) => (text === '' ? [] : text.split('.').map(Number))

const compare = (a: readonly number[], b: readonly number[]): number => {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
