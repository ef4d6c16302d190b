import type * as z from 'zod/mini'
import { type Parsed, parseQuery } from '#lib/contract/query-string.ts'

export type PageSearchParams = Record<string, string | string[] | undefined>

/** Parses a page's search params by an endpoint's query schema. */
export const pageQuery = <S extends z.ZodMiniType>(schema: S, params: PageSearchParams): Parsed<z.output<S>> =>
  parseQuery(schema, toSearchParams(params))

export const toSearchParams = (params: PageSearchParams): URLSearchParams => {
  const pairs = Object.entries(params).flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, each]))
  return new URLSearchParams(pairs)
}
