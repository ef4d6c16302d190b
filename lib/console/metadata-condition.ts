import * as z from 'zod/mini'
import { type MetadataCondition, MetadataFilter, parseQuery } from '#lib/contract/query-string.ts'

const OneFilter = z.object({ metadata: z.optional(MetadataFilter) })

/**
 * A condition as people type it, read by the codec of page addresses: with `in`, values are parted by commas, and a
 * backslash before a comma keeps it in its value.
 */
export const readCondition = (
  key: string,
  op: MetadataCondition['op'],
  text: string,
): { ok: true; condition: MetadataCondition } | { ok: false; message: string } => {
  if (key === '') return { ok: false, message: 'A filter needs a key' }
  const spaced = op === 'in' ? text.replace(/\s*,\s*/g, ',').trim() : text
  const name = op === 'in' ? `metadata[${key}][in]` : `metadata[${key}]`
  const parsed = parseQuery(OneFilter, new URLSearchParams([[name, spaced]]))
  if (!parsed.ok) return { ok: false, message: `A key cannot hold "]["` }
  const [condition] = parsed.value.metadata ?? []
  return condition ? { ok: true, condition } : { ok: false, message: 'A filter needs a value' }
}

export const conditionText = (condition: MetadataCondition): string =>
  condition.op === 'eq' ? `${condition.key}=${condition.value}` : `${condition.key} is ${condition.values.join(' or ')}`

/** A key has one condition of each kind: a second one of the same kind replaces the first. */
export const withCondition = (filter: MetadataFilter = [], condition: MetadataCondition): MetadataFilter => [
  ...(withoutCondition(filter, condition) ?? []),
  condition,
]

/** Undefined when nothing is left, which is how a query says "no filter". */
export const withoutCondition = (
  filter: MetadataFilter,
  { key, op }: MetadataCondition,
): MetadataFilter | undefined => {
  const rest = filter.filter((each) => each.key !== key || each.op !== op)
  return rest.length > 0 ? rest : undefined
}
