import { encodeQuery } from '#lib/contract/encode-query.ts'
import { defaultPageSize } from '#lib/contract/page-sizes.ts'

/** The search part of an address, with `?`, without defaults. */
export const searchOf = (query: object, defaults: object = {}): string => {
  const without: Record<string, unknown> = defaults as Record<string, unknown>
  const search = encodeQuery(
    Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== without[name])),
  )
  return search && `?${readable(search)}`
}

// Commas and colons are legal in a query, and readable.
const readable = (search: string): string => search.replace(/%2C/gi, ',').replace(/%3A/gi, ':')

export const pageDefaults = { limit: defaultPageSize, include_total_count: true }
