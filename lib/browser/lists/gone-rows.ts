interface Identified {
  id: string
}

/** The rows of one list as they were loaded, and those of them that its page shows. */
export interface ListedRows<Row> {
  loaded: readonly Row[]
  shown: readonly Row[]
}

/**
 * Rows that were shown and are not any more: the service has no such row now, or it does not match the page's own filters
 * now. What is missing behind the last row that both have is not gone while more can be loaded.
 */
export const goneRows = <Row extends Identified>(
  before: ListedRows<Row>,
  now: ListedRows<Row>,
  hasMore: boolean,
): Row[] => {
  const loaded = idsOf(now.loaded)
  const shown = idsOf(now.shown)
  const last = before.loaded.findLastIndex(({ id }) => loaded.has(id))
  const covered = idsOf(hasMore ? before.loaded.slice(0, last + 1) : before.loaded)
  return before.shown.filter(({ id }) => !shown.has(id) && covered.has(id))
}

export const idsOf = (rows: readonly Identified[]): ReadonlySet<string> => new Set(rows.map(({ id }) => id))
