import type * as z from 'zod/mini'
import { type Parsed, parseQuery } from '#lib/contract/query-string.ts'

/** The `searchParams` of a Next page. */
export type PageSearchParams = Record<string, string | string[] | undefined>

/** Reads a page's address as the query of the endpoint it shows; a value the endpoint would refuse is a problem, not an error. */
export const pageQuery = <S extends z.ZodMiniType>(schema: S, params: PageSearchParams): Parsed<z.output<S>> =>
  parseQuery(schema, toSearchParams(params))

export const toSearchParams = (params: PageSearchParams): URLSearchParams => {
  const pairs = Object.entries(params).flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, each]))
  return new URLSearchParams(pairs)
}
