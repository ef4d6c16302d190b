import * as z from 'zod/mini'
import { get, json } from './endpoint.ts'
import { defaultPageSize, maxPageSize } from './page-sizes.ts'

export const EpochMs = z.int()
export const maxEpochMs = 8_640_000_000_000_000

export type StringMap = Record<string, string>

const isStringMap = (value: unknown): value is StringMap =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((each) => typeof each === 'string')

// Not z.record, which drops the key `__proto__`.
export const StringMap = z.custom<StringMap>(isStringMap, 'must be an object whose values are all strings')
z.globalRegistry.add(StringMap, {
  type: 'object',
  propertyNames: { type: 'string' },
  additionalProperties: { type: 'string' },
})

/** Unspecified: limits of the metadata of a record. */
export const metadataLimits = { pairs: 128, keyCharacters: 256, valueCharacters: 4096, bytes: 64 * 1024 }

const isLonger = (text: string, limit: number) => text.length > limit && [...text].length > limit

const metadataProblem = (value: unknown): string | undefined => {
  if (!isStringMap(value)) return 'must be an object whose values are all strings'
  const { pairs, keyCharacters, valueCharacters, bytes } = metadataLimits
  const entries = Object.entries(value)
  if (entries.length > pairs) return `must have at most ${pairs} pairs, not ${entries.length}`
  if (entries.some(([key]) => isLonger(key, keyCharacters)))
    return `must have keys of at most ${keyCharacters} characters`
  const long = entries.find(([, text]) => isLonger(text, valueCharacters))
  if (long) return `must have values of at most ${valueCharacters} characters; ${JSON.stringify(long[0])} is longer`
  if (new TextEncoder().encode(entries.flat().join('')).length > bytes)
    return `must have at most ${bytes} bytes in all keys and values together`
  return undefined
}

/** Metadata in requests. Responses may exceed the limits. */
export const Metadata = z.custom<StringMap>((value) => metadataProblem(value) === undefined, {
  error: ({ input }) => metadataProblem(input),
})
z.globalRegistry.add(Metadata, {
  type: 'object',
  maxProperties: metadataLimits.pairs,
  propertyNames: { type: 'string', maxLength: metadataLimits.keyCharacters },
  additionalProperties: { type: 'string', maxLength: metadataLimits.valueCharacters },
})

/** Ids are opaque. Unspecified: their characters, all that a path segment may contain unescaped. */
export const idPattern = /^(?!\.{1,2}$)[\w.~!$&'()*+,;=:@-]{1,256}$/
const idMessage = 'must be 1 to 256 characters that a URL path may contain'
export const Id = z.string().check(z.regex(idPattern, idMessage))
export const ById = z.object({ id: Id })
export const Empty = z.object({})

/** An enum that may gain values: unknown ones are passed through and shown as they are. */
export const openEnum = <const T extends string>(known: readonly T[]) =>
  z.union([z.enum(known), z.string()]) as z.ZodMiniType<T | (string & {}), T | (string & {})>

type Nullish<S extends z.core.SomeType> = z.ZodMiniOptional<z.ZodMiniNullable<S>>
export const nullishFields = <S extends Record<string, z.ZodMiniType>>(shape: S) =>
  Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, z.nullish(schema)])) as {
    [K in keyof S]: Nullish<S[K]>
  }

/** An integer that may arrive as text in a query string. */
export const queryInt = (minimum: number, maximum: number) => {
  const message = `must be a whole number from ${minimum} to ${maximum}`
  return z.pipe(
    z.transform((value: string | number) =>
      typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    z.int(message).check(z.minimum(minimum, message), z.maximum(maximum, message)),
  )
}

export const queryBoolean = z.pipe(
  z.transform((value: string | boolean) => (value === 'true' ? true : value === 'false' ? false : value)),
  z.boolean('must be true or false'),
)

export const pageQuery = {
  /** Unspecified: 0 returns an empty page, to read only the count. */
  limit: z._default(queryInt(0, maxPageSize), defaultPageSize),
  starting_after: z.optional(Id),
  include_total_count: z._default(queryBoolean, true),
}

/**
 * Extension: sorts a list by a field. Rows without a value come last, rows with the same value newest first. Without `sort`,
 * the newest rows come first. A row whose value changes while pages are read may be missed or returned twice.
 */
export const sortQuery = (fields: readonly string[]) => ({
  sort: z.optional(z.enum(fields, `must be one of ${fields.join(', ')}`) as z.ZodMiniType<string, string>),
  order: z.optional(z.enum(['asc', 'desc'], 'must be asc or desc')),
})

export const pageEnvelope = {
  has_more: z.boolean(),
  total_count: z.nullish(z.int()),
}

export const metadataOperations = (path: string) => ({
  metadataKeys: get(`${path}/metadata/keys`, json(z.object({ keys: z.array(z.string()) }))),
  metadataValues: get(
    `${path}/metadata/keys/:key/values`,
    json(z.object({ key: z.string(), values: z.array(z.string()) })),
    {
      params: z.object({ key: z.string().check(z.minLength(1)) }),
    },
  ),
})

/** Unspecified: error body. The public clients print `message`; `field` names the invalid input. */
export const ErrorBody = z.object({
  code: z.string(),
  message: z.string(),
  request_id: z.string(),
  field: z.optional(z.string()),
})
export type ErrorBody = z.infer<typeof ErrorBody>
