import type * as z from 'zod/mini'
import { StringMap } from './common.ts'

/**
 * An answer as far as it is what the schema says, and nothing in it that would break a reader who trusts the schema:
 * a list that is missing or null is empty, a missing text is '', a missing time NaN. Known values of another kind are
 * turned into text where text belongs; fields and values the schema does not know pass through. A valid answer stays
 * as it is.
 */
export const readLeniently = <S extends z.ZodMiniType>(schema: S, value: unknown): z.output<S> =>
  read(schema, value) as z.output<S>

const read = (schema: z.core.$ZodType, value: unknown): unknown => {
  if (schema === StringMap) return stringMap(value)
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
      if (value === undefined || (value === null && kindOf(def.innerType) !== 'nullable')) return undefined
      return read(def.innerType, value)
    case 'nullable':
      return value === null || value === undefined ? null : read(def.innerType, value)
    case 'object':
      return object(def.shape, value)
    case 'array': {
      const items = Array.isArray(value) ? value : []
      const wanted = kindOf(def.element) === 'object' ? items.filter(isObject) : items
      return wanted.map((each) => read(def.element, each))
    }
    case 'boolean':
      return value === true
    case 'number':
      return typeof value === 'number' ? value : Number.NaN
    case 'string':
      return text(value)
    case 'union':
      return def.options.every((option) => textual.includes(kindOf(option))) ? text(value) : value
    default:
      return value
  }
}

const kindOf = (schema: z.core.$ZodType): string => (schema as z.core.$ZodTypes)._zod.def.type
const textual = ['string', 'enum', 'literal']

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const object = (shape: Readonly<Record<string, z.core.$ZodType>>, value: unknown): unknown => {
  const given = isObject(value) ? value : {}
  const result: Record<string, unknown> = { ...given }
  for (const [name, schema] of Object.entries(shape)) {
    const found = read(schema, given[name])
    if (found === undefined) delete result[name]
    else result[name] = found
  }
  return result
}

const stringMap = (value: unknown): StringMap =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, text(each)])) : {}

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)
