/** The writing half of the codec in query-string.ts, for what needs no schema. */

/** `metadata[key]=value`, or `metadata[key][in]=a,b` (any of the values). Conditions on different keys must all hold. */
export type MetadataCondition = { key: string; op: 'eq'; value: string } | { key: string; op: 'in'; values: string[] }

type QueryValue = string | number | boolean | null | undefined | MetadataCondition[]

/** The canonical query string, without `?`; values that are absent, null or empty are left out. */
export const encodeQuery = (query: Record<string, unknown> | object): string => {
  const pairs: string[] = []
  for (const [name, value] of Object.entries(query) as [string, QueryValue][]) {
    if (value === undefined || value === null || value === '') continue
    if (typeof value === 'object') pairs.push(...[...value].sort(byKey).map(encodeCondition))
    else pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
  }
  return pairs.join('&')
}

const encodeCondition = (condition: MetadataCondition) => {
  const name = `metadata[${encodeURIComponent(condition.key)}]`
  return condition.op === 'eq'
    ? `${name}=${encodeURIComponent(condition.value)}`
    : `${name}[in]=${[...new Set(condition.values)]
        .sort()
        .map((value) => encodeURIComponent(escapeComma(value)))
        .join(',')}`
}

// Unspecified: how `[in]` carries a value that holds a comma. A backslash takes the meaning from the next
// comma or backslash, so that every list of values has one spelling.
const escapeComma = (value: string) => value.replace(/[\\,]/g, '\\$&')

export const byKey = (a: MetadataCondition, b: MetadataCondition) =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : a.op < b.op ? -1 : a.op > b.op ? 1 : 0
