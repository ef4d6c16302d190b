import type * as z from 'zod/mini'
import { defaultPageSize } from '#lib/contract/common.ts'
import { encodeQuery, type Parsed, parseQuery } from '#lib/contract/query-string.ts'

/** The `searchParams` of a Next page. */
export type PageSearchParams = Record<string, string | string[] | undefined>

/** Reads a page's address as the query of the endpoint it shows; a value the endpoint would refuse is a problem, not an error. */
export const pageQuery = <S extends z.ZodMiniType>(schema: S, params: PageSearchParams): Parsed<z.output<S>> =>
  parseQuery(schema, toSearchParams(params))

/** The canonical search part of a page's address, with its `?`; what equals its default is left out. */
export const searchOf = (query: object, defaults: object = {}): string => {
  const without: Record<string, unknown> = defaults as Record<string, unknown>
  const search = encodeQuery(
    Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== without[name])),
  )
  return search && `?${readable(search)}`
}

// Both are legal in a query and mean the same there, but only one of them can be read.
const readable = (search: string): string => search.replace(/%2C/gi, ',').replace(/%3A/gi, ':')

/** What a list page shows when its address does not say. */
export const pageDefaults = { limit: defaultPageSize, include_total_count: true }

export const toSearchParams = (params: PageSearchParams): URLSearchParams => {
  const pairs = Object.entries(params).flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, each]))
  return new URLSearchParams(pairs)
}
