import { defaultPageSize } from '#lib/contract/common.ts'
import { encodeQuery } from '#lib/contract/encode-query.ts'

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
