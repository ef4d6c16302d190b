import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { defaultPageSize, maxPageSize } from '#lib/contract/paging.ts'
import { isMissing } from '../../api/failures.ts'
import { type RowRange, refreshedPages } from '../../lists/refreshed-pages.ts'
import type { Refreshed } from './pages.ts'
import { listName, refreshKey, tabLists } from './tab-lists.ts'

/** Rows beside those that are shown, so that a short scroll leads to nothing old. */
const margin = 15

type LoadedList<Page> = InfiniteData<Page, string | undefined>

interface Turn extends RowRange {
  everyMs: number
  client: QueryClient
  signal: AbortSignal
}

/**
 * Reads the loaded rows of a range again and puts them in their place, unless another tab has just done it or does it now:
 * what it reads comes here as well. After a write nobody else's reading will do.
 */
export const refreshList = async <
  ListQuery extends { starting_after?: string | undefined; limit?: number | undefined },
  Page extends { has_more: boolean },
  Row extends { id: string },
>(
  list: Refreshed<ListQuery, Page, Row>,
  { from, to, everyMs, client, signal }: Turn,
): Promise<void> => {
  const { queryKey, query, rowsOf } = list
  const loaded = client.getQueryData<LoadedList<Page>>(queryKey)?.pages.flatMap(rowsOf)
  if (!loaded) return
  const first = Math.max(0, Math.min(from - margin, loaded.length - 1))
  const limit = Math.min(maxPageSize, Math.max(to + margin - first, query.limit ?? defaultPageSize))
  const starting_after = first === 0 ? query.starting_after : loaded[first - 1]?.id

  const tab = tabLists(client)
  const rows = { list: listName(queryKey), starting_after, limit }
  const read = async (from: string | undefined) => {
    const answer = await list.read({ ...query, starting_after: from, limit }, signal)
    putRows(list, client, from, answer)
    tab.tell({ ...rows, starting_after: from, answer })
  }
  const turn = async () => {
    try {
      await read(starting_after)
    } catch (error) {
      // The row that the reading starts from is gone: it starts from the top.
      if (first === 0 || !isMissing(error)) throw error
      await read(query.starting_after)
    }
  }
  if (client.getQueryState(refreshKey(queryKey))?.isInvalidated) return turn()
  await oneAfterAnother(rows.list, signal, async () => {
    if (Date.now() - tab.readMs(rows) >= everyMs / 2) await turn()
  })
}

/** Puts an answer in its place, if the row it was read from is still there. */
export const putRows = <
  ListQuery extends { starting_after?: string | undefined },
  Page extends { has_more: boolean },
  Row extends { id: string },
>(
  list: Refreshed<ListQuery, Page, Row>,
  client: QueryClient,
  starting_after: string | undefined,
  answer: Page,
): void => {
  client.setQueryData<LoadedList<Page>>(list.queryKey, (now) => {
    if (!now) return now
    const rows = now.pages.flatMap(list.rowsOf)
    const from =
      starting_after === list.query.starting_after ? 0 : rows.findIndex(({ id }) => id === starting_after) + 1
    const isPlaced = from > 0 || starting_after === list.query.starting_after
    return isPlaced ? refreshedPages(now, answer, from, list) : now
  })
}

/** Of all tabs, so that each knows what the one before it has read. */
const oneAfterAnother = async (name: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> => {
  // Where the page came unsafely there are no locks; each tab then asks for itself.
  if (!navigator.locks) return work()
  await navigator.locks.request(`devdeck-list ${name}`, { signal }, work)
}
