import * as z from 'zod/mini'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'
import { MetadataFilter, parseQuery } from '#lib/contract/query-string.ts'

const OneFilter = z.object({ metadata: z.optional(MetadataFilter) })

/** Parses a typed condition. With `in`, commas separate values; a backslash escapes a comma. */
export const readCondition = (
  key: string,
  op: MetadataCondition['op'],
  text: string,
): { ok: true; condition: MetadataCondition } | { ok: false; message: string } => {
  if (key === '') return { ok: false, message: 'A filter needs a key' }
  const spaced = op === 'in' ? text.replace(/\s*,\s*/g, ',').trim() : text
  const name = op === 'in' ? `metadata[${key}][in]` : `metadata[${key}]`
  const parsed = parseQuery(OneFilter, new URLSearchParams([[name, spaced]]))
  if (!parsed.ok) return { ok: false, message: 'A key must not contain "]["' }
  const [condition] = parsed.value.metadata ?? []
  return condition ? { ok: true, condition } : { ok: false, message: 'A filter needs a value' }
}

export const conditionText = (condition: MetadataCondition): string =>
  condition.op === 'eq'
    ? `${condition.key}=${condition.value}`
    : `${condition.key} is ${condition.values.join(` ${'or'} `)}`

/** Replaces the key's condition of the same kind. */
export const withCondition = (filter: MetadataFilter | undefined, condition: MetadataCondition): MetadataFilter => [
  ...(withoutCondition(filter ?? [], condition) ?? []),
  condition,
]

export const withoutCondition = (
  filter: MetadataFilter,
  { key, op }: MetadataCondition,
): MetadataFilter | undefined => {
  const rest = filter.filter((each) => each.key !== key || each.op !== op)
  return rest.length > 0 ? rest : undefined
}

/** Suggestions for the value being typed, without values already given. */
export const valuesLike = (known: readonly string[], op: MetadataCondition['op'], text: string): string[] => {
  const typed = op === 'in' ? text.split(',').map((value) => value.trim()) : [text]
  const wanted = (typed.at(-1) ?? '').toLowerCase()
  return known.filter((value) => value !== '' && !typed.includes(value) && value.toLowerCase().includes(wanted))
}

export const addValue = (text: string, op: MetadataCondition['op'], value: string): string => {
  if (op === 'eq') return value
  const before = text.slice(0, text.lastIndexOf(',') + 1)
  return `${before}${before && ' '}${value.replace(/[\\,]/g, '\\$&')}, `
}
