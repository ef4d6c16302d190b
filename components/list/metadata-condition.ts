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
  if (!parsed.ok) return { ok: false, message: 'A key cannot contain "]["' }
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

/** Undefined if no condition is left. */
export const withoutCondition = (
  filter: MetadataFilter,
  { key, op }: MetadataCondition,
): MetadataFilter | undefined => {
  const rest = filter.filter((each) => each.key !== key || each.op !== op)
  return rest.length > 0 ? rest : undefined
}

/** Splits off the value being typed: with `in`, the last one. */
const splitLast = (text: string, op: MetadataCondition['op']): [before: string, last: string] => {
  if (op === 'eq') return ['', text]
  // Skips escaped commas.
  const [before = ''] = /^(?:(?:\\.|[^\\,])*,)*\s*/s.exec(text) ?? []
  return [before, text.slice(before.length)]
}

/** Suggestions for the value being typed, without values already given. */
export const valuesLike = (known: readonly string[], op: MetadataCondition['op'], text: string): string[] => {
  const [before, last] = splitLast(text, op)
  const read = before === '' ? null : readCondition('key', 'in', before)
  const given = read?.ok && read.condition.op === 'in' ? read.condition.values : []
  const isDone = known.includes(last)
  const wanted = last.toLowerCase()
  return known.filter(
    (value) =>
      value !== '' &&
      !given.includes(value) &&
      (op === 'in' && isDone ? value !== last : value !== last && value.toLowerCase().includes(wanted)),
  )
}

/** Replaces the value being typed. */
export const addValue = (text: string, op: MetadataCondition['op'], value: string): string => {
  if (op === 'eq') return value
  const [before, last] = splitLast(text, op)
  const escaped = value.replace(/[\\,]/g, '\\$&')
  const kept = last !== '' && !value.toLowerCase().includes(last.toLowerCase()) ? `${text}, ` : before
  return `${kept}${escaped}, `
}
