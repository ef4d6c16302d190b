/** `metadata[key]=value`, or `metadata[key][in]=a,b` (any of the values). All conditions must match. */
export type MetadataCondition = { key: string; op: 'eq'; value: string } | { key: string; op: 'in'; values: string[] }

type QueryValue = string | number | boolean | null | undefined | MetadataCondition[]

/** Canonical query string without `?`. Omits undefined, null and empty values. */
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

// Unspecified: commas in values of `[in]`. A backslash escapes a comma or backslash.
const escapeComma = (value: string) => value.replace(/[\\,]/g, '\\$&')

export const byKey = (a: MetadataCondition, b: MetadataCondition) =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : a.op < b.op ? -1 : a.op > b.op ? 1 : 0
