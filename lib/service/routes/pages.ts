import { invalid } from '#lib/service/kit/errors.ts'
import type { Page } from '#lib/service/store/pages.ts'

interface PagedQuery {
  starting_after?: string | undefined
}

/** The page after the record the query names. `position` finds that record; throws 400 when it is no `what`. */
export const pageOf = <T>(
  query: PagedQuery,
  what: string,
  position: (id: string) => number | undefined,
  list: (before: number | undefined) => Page<T>,
): Page<T> => {
  if (query.starting_after === undefined) return list(undefined)
  const before = position(query.starting_after)
  if (before === undefined) throw invalid({ field: 'starting_after', message: `is not the id of a ${what}` })
  return list(before)
}

/** The answer of a list: its items under the name the wire has for them. */
export const envelope = <K extends string, T>(key: K, { items, has_more, total_count }: Page<T>) =>
  ({ [key]: items, has_more, total_count }) as { [P in K]: T[] } & { has_more: boolean; total_count: number | null }

/** This service has no public records. */
export const nothingPublic = ({ include_total_count }: { include_total_count: boolean }): Page<never> => ({
  items: [],
  has_more: false,
  total_count: include_total_count ? 0 : null,
})
