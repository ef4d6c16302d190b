import * as z from 'zod/mini'
import { pageQuery } from './common.ts'
import { byKey, type MetadataCondition } from './encode-query.ts'

export const maxMetadataConditions = 50

const keyMessage = 'must have a key without "]["'
const MetadataKey = z.string().check(
  z.minLength(1, keyMessage),
  z.refine((key) => !key.includes(']['), keyMessage),
)

export const MetadataFilter = z
  .array(
    z.union([
      z.object({ key: MetadataKey, op: z.literal('eq'), value: z.string() }),
      z.object({ key: MetadataKey, op: z.literal('in'), values: z.array(z.string()).check(z.minLength(1)) }),
    ]),
  )
  .check(z.maxLength(maxMetadataConditions, `must have at most ${maxMetadataConditions} conditions`))
export type MetadataFilter = z.infer<typeof MetadataFilter>

export const listQuery = {
  name: z.optional(z.string()),
  search: z.optional(z.string().check(z.maxLength(256))),
  metadata: z.optional(MetadataFilter),
  ...pageQuery,
}

export interface FieldProblem {
  field: string
  message: string
}
export type Parsed<T> = { ok: true; value: T } | { ok: false; problems: FieldProblem[] }

const splitValues = (text: string): string[] => {
  const values: string[] = []
  let value = ''
  for (let i = 0; i < text.length; i++) {
    const next = text[i + 1]
    if (text[i] === '\\' && (next === ',' || next === '\\')) value += text[++i]
    else if (text[i] === ',') {
      values.push(value)
      value = ''
    } else value += text[i]
  }
  values.push(value)
  return values.filter((each) => each !== '')
}

interface Collected {
  scalars: Map<string, string>
  metadata: MetadataCondition[]
  problems: FieldProblem[]
}

const collect = (params: Iterable<[string, string]>): Collected => {
  const scalars = new Map<string, string>()
  const equal = new Map<string, string>()
  const anyOf = new Map<string, string[]>()
  const problems: FieldProblem[] = []
  for (const [name, value] of params) {
    if (value === '') continue
    if (name !== 'metadata' && !name.startsWith('metadata[')) {
      // Unspecified: a repeated parameter with different values is an error.
      if (scalars.has(name) && scalars.get(name) !== value)
        problems.push({ field: name, message: 'is repeated with different values' })
      scalars.set(name, value)
      continue
    }
    const [inner, operator] = splitMetadataName(name)
    if (!inner) problems.push({ field: name, message: 'must be metadata[key] or metadata[key][in]' })
    else if (operator === 'in') anyOf.set(inner, [...(anyOf.get(inner) ?? []), ...splitValues(value)])
    else if (operator !== undefined)
      problems.push({ field: name, message: 'has an unknown operator; only [in] is supported' })
    else if (equal.has(inner) && equal.get(inner) !== value)
      problems.push({ field: name, message: 'is repeated with different values' })
    else equal.set(inner, value)
  }
  const metadata: MetadataCondition[] = [
    ...[...equal].map(([key, value]) => ({ key, op: 'eq' as const, value })),
    ...[...anyOf]
      .filter(([, values]) => values.length > 0)
      .map(([key, values]) => ({ key, op: 'in' as const, values: [...new Set(values)].sort() })),
  ]
  return { scalars, metadata: metadata.sort(byKey), problems }
}

/** `metadata[a]` is `['a', undefined]`, `metadata[a][in]` is `['a', 'in']`. No key if the brackets do not match. */
const splitMetadataName = (name: string): [key: string | undefined, operator: string | undefined] => {
  if (!name.endsWith(']')) return [undefined, undefined]
  const [key, operator, ...more] = name.slice('metadata['.length, -1).split('][')
  return more.length > 0 ? [undefined, undefined] : [key, operator]
}

/** The inverse of `encodeQuery`, for API requests and page addresses. Ignores parameters that are not in the schema. */
export const parseQuery = <S extends z.ZodMiniType>(
  schema: S,
  search: string | URLSearchParams,
): Parsed<z.output<S>> => {
  const { scalars, metadata, problems } = collect(typeof search === 'string' ? new URLSearchParams(search) : search)
  if (metadata.length > maxMetadataConditions)
    problems.push({ field: 'metadata', message: `must have at most ${maxMetadataConditions} conditions` })
  const shape = shapeOf(schema)
  const given = Object.fromEntries([...scalars].filter(([name]) => Object.hasOwn(shape, name) && name !== 'metadata'))
  const takesMetadata = Object.hasOwn(shape, 'metadata')
  const relevant = problems.filter(({ field }) =>
    field.startsWith('metadata') ? takesMetadata : Object.hasOwn(shape, field),
  )
  const parsed = schema.safeParse(takesMetadata && metadata.length > 0 ? { ...given, metadata } : given)
  if (parsed.success && relevant.length === 0) return { ok: true, value: parsed.data }
  return { ok: false, problems: [...relevant, ...(parsed.error ? fieldProblems(parsed.error) : [])] }
}

export const shapeOf = (schema: z.core.$ZodType): Record<string, z.ZodMiniType> => {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'object') return def.shape as Record<string, z.ZodMiniType>
  return def.type === 'pipe' ? shapeOf(def.in) : {}
}

export const fieldProblems = (error: { issues: readonly { path: PropertyKey[]; message: string }[] }): FieldProblem[] =>
  error.issues.map(({ path, message }) => ({ field: path.map(String).join('.') || 'body', message }))
