/** The service's name of each column it sorts by, by column ID. */
export type SortFields = Readonly<Record<string, string>>

interface Sorted {
  sort?: string | undefined
  order?: 'asc' | 'desc' | undefined
  limit?: number | undefined
}

/** Rows per call where the page sorts: it reads many pages. Larger ones of jobs could hold too many outcomes. */
const sortedPageSize = 100

/** The part of an API query for `sort` in an address: a column ID, with a leading `-` for descending order. */
export const sortingOf = (sort: string | undefined, fields: SortFields): Sorted => {
  if (!sort) return {}
  const isDescending = sort.startsWith('-')
  const id = isDescending ? sort.slice(1) : sort
  return Object.hasOwn(fields, id) ? { sort: fields[id], order: isDescending ? 'desc' : 'asc' } : pageSorting
}

const pageSorting: Sorted = { limit: sortedPageSize }

/** Sorting is an extension, so other services never get its parameters. */
export const forService = <Query>(query: Query, canSort: boolean): Query => {
  const { sort, order: _, ...rest } = query as Query & Sorted
  return sort === undefined || canSort ? query : ({ ...rest, ...pageSorting } as Query & Sorted)
}

export const isSortedByService = (query: unknown): boolean => (query as Sorted).sort !== undefined
