import type * as z from 'zod/mini'
import { StringMap } from './common.ts'

/**
 * An answer as far as it is what the schema says, and nothing in it that would break a reader who trusts the schema:
 * a list that is missing or null is empty, a missing text is '', a missing time NaN, and what should be a number and is
 * none is left out where it may be. Known values of another kind are turned into text where text belongs; fields and
 * values the schema does not know pass through. A valid answer stays as it is.
 */
export const readLeniently = <S extends z.ZodMiniType>(schema: S, value: unknown): z.output<S> =>
  read(schema, value) as z.output<S>

const read = (schema: z.core.$ZodType, value: unknown): unknown => {
  if (schema === StringMap) return stringMap(value)
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
      if (isNothing(def.innerType, value) && (value !== null || kindOf(def.innerType) !== 'nullable')) return undefined
      return read(def.innerType, value)
    case 'nullable':
      return isNothing(def.innerType, value) ? null : read(def.innerType, value)
    case 'object':
      return object(def.shape, value)
    case 'array': {
      const items = Array.isArray(value) ? value : []
      const wanted = kindOf(def.element) === 'object' && !items.every(isObject) ? items.filter(isObject) : items
      const found = wanted.map((each) => read(def.element, each))
      return found.every((each, at) => Object.is(each, items[at])) && found.length === items.length ? items : found
    }
    case 'boolean':
      return value === true
    case 'number':
      return Number.isFinite(value) ? value : Number.NaN
    case 'string':
      return text(value)
    case 'union':
      if ('discriminator' in def) return variant(def as z.core.$ZodDiscriminatedUnionDef, value)
      return def.options.every((option) => textual.includes(kindOf(option))) ? text(value) : value
    default:
      return value
  }
}

/** What may be left out is, where it is no number that should be one. */
const isNothing = (schema: z.core.$ZodType, value: unknown): boolean =>
  value === undefined || value === null || (kindOf(schema) === 'number' && !Number.isFinite(value))

const kindOf = (schema: z.core.$ZodType): string => (schema as z.core.$ZodTypes)._zod.def.type
const textual = ['string', 'enum', 'literal']

/** One of a kind that is known is read as it; another passes through. */
const variant = ({ discriminator, options }: z.core.$ZodDiscriminatedUnionDef, value: unknown): unknown => {
  if (!isObject(value)) return value
  const kind = value[discriminator] as z.core.util.Primitive
  const known = options.find((option) => option._zod.propValues?.[discriminator]?.has(kind))
  return known ? read(known, value) : value
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Shape = Readonly<Record<string, z.core.$ZodType>>
const fieldsOf = new WeakMap<Shape, [string, z.core.$ZodType][]>()

// A list holds thousands of these: what is valid, which is nearly all, is not copied.
const object = (shape: Shape, value: unknown): unknown => {
  const given = isObject(value) ? value : {}
  let fields = fieldsOf.get(shape)
  if (!fields) {
    fields = Object.entries(shape)
    fieldsOf.set(shape, fields)
  }
  let result = given
  for (const [name, schema] of fields) {
    const found = read(schema, given[name])
    if (Object.is(found, given[name]) && (found !== undefined || !Object.hasOwn(given, name))) continue
    if (result === given) result = { ...given }
    if (found === undefined) delete result[name]
    else result[name] = found
  }
  return result
}

const isText = (value: unknown) => typeof value === 'string'

const stringMap = (value: unknown): StringMap => {
  if (!isObject(value)) return {}
  if (Object.values(value).every(isText)) return value as StringMap
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, text(each)]))
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)
