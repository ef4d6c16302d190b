import type * as z from 'zod/mini'
import { StringMap } from './common.ts'

/** Coerces missing and mistyped fields so that code relying on the schema does not break. Unknown ones pass through. */
export const readLeniently = <S extends z.ZodMiniType>(schema: S, value: unknown): z.output<S> =>
  read(schema, value) as z.output<S>

const read = (schema: z.core.$ZodType, value: unknown): unknown => {
  if (schema === StringMap) return stringMap(value)
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
      if (isMissing(def.innerType, value) && (value !== null || kindOf(def.innerType) !== 'nullable')) return undefined
      return read(def.innerType, value)
    case 'nullable':
      return isMissing(def.innerType, value) ? null : read(def.innerType, value)
    case 'object':
      return object(def.shape, value)
    case 'array': {
      const items = Array.isArray(value) ? value : []
      const objects = kindOf(def.element) === 'object' && !items.every(isObject) ? items.filter(isObject) : items
      const coerced = objects.map((each) => read(def.element, each))
      return coerced.every((each, at) => Object.is(each, items[at])) && coerced.length === items.length
        ? items
        : coerced
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

const isMissing = (schema: z.core.$ZodType, value: unknown): boolean =>
  value === undefined || value === null || (kindOf(schema) === 'number' && !Number.isFinite(value))

const kindOf = (schema: z.core.$ZodType): string => (schema as z.core.$ZodTypes)._zod.def.type
const textual = ['string', 'enum', 'literal']

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

// Lists hold thousands of objects: valid ones are not copied.
const object = (shape: Shape, value: unknown): unknown => {
  const original = isObject(value) ? value : {}
  let fields = fieldsOf.get(shape)
  if (!fields) {
    fields = Object.entries(shape)
    fieldsOf.set(shape, fields)
  }
  let result = original
  for (const [name, schema] of fields) {
    const coerced = read(schema, original[name])
    if (Object.is(coerced, original[name]) && (coerced !== undefined || !Object.hasOwn(original, name))) continue
    if (result === original) result = { ...original }
    if (coerced === undefined) delete result[name]
    else result[name] = coerced
  }
  return result
}

const isString = (value: unknown) => typeof value === 'string'

const stringMap = (value: unknown): StringMap => {
  if (!isObject(value)) return {}
  if (Object.values(value).every(isString)) return value as StringMap
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, text(each)]))
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)
