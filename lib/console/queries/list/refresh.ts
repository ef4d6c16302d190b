import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { defaultPageSize, maxPageSize } from '#lib/contract/paging.ts'
import { isMissing } from '../../api/failures.ts'
import { type RowRange, refreshedPages } from '../../lists/refreshed-pages.ts'
import { dueAfter, inTurn } from './in-turn.ts'
import type { Refreshed, Shown } from './pages.ts'
import { listName, type Reading, type ReadRows, refreshKey, tabLists } from './tab-lists.ts'

/** Rows beside those that are shown, so that a short scroll leads to nothing old. */
const margin = 15

type LoadedList<Page> = InfiniteData<Page, string | undefined>

interface Turn extends RowRange {
  everyMs: number
  client: QueryClient
  signal: AbortSignal
}

/** What is read when rows of a range are read again: they, those beside them, and no less than a page. */
const rowsToRead = <
  ListQuery extends { starting_after?: string | undefined; limit?: number | undefined },
  Page,
  Row extends { id: string },
>(
  { queryKey, query, rowsOf }: Refreshed<ListQuery, Page, Row>,
  client: QueryClient,
  { from, to }: RowRange,
): (ReadRows & { isFromTop: boolean }) | null => {
  const loaded = client.getQueryData<LoadedList<Page>>(queryKey)?.pages.flatMap(rowsOf)
  if (!loaded) return null
  const first = Math.max(0, Math.min(from - margin, loaded.length - 1))
  return {
    list: listName(queryKey),
    starting_after: first === 0 ? query.starting_after : loaded[first - 1]?.id,
    limit: Math.min(maxPageSize, Math.max(to + margin - first, query.limit ?? defaultPageSize)),
    isFromTop: first === 0,
  }
}

/**
 * Reads the loaded rows of a range again and puts them in their place, unless another tab has just done it or does it now:
 * what it reads comes here as well. After a write nobody else's reading will do. Answers when they were last read.
 */
export const refreshList = async <
  ListQuery extends { starting_after?: string | undefined; limit?: number | undefined },
  Page extends { has_more: boolean },
  Row extends { id: string },
>(
  list: Refreshed<ListQuery, Page, Row>,
  { from, to, everyMs, client, signal }: Turn,
): Promise<number> => {
  const { queryKey, query } = list
  const rows = rowsToRead(list, client, { from, to })
  if (!rows) return Date.now()
  const tab = tabLists(client)
  const read = async (starting_after: string | undefined) => {
    const { list: name, limit } = rows
    const answer = await list.read({ ...query, starting_after, limit }, signal)
    putRows(list, client, starting_after, answer)
    tab.tell({ list: name, starting_after, limit, answer })
  }
  const turn = async () => {
    try {
      await read(rows.starting_after)
    } catch (error) {
      // The row that the reading starts from is gone: it starts from the top.
      if (rows.isFromTop || !isMissing(error)) throw error
      await read(query.starting_after)
    }
  }
  if (client.getQueryState(refreshKey(queryKey))?.isInvalidated) await turn()
  else
    await inTurn(rows.list, signal, async () => {
      if (Date.now() - tab.readMs(rows) >= everyMs * dueAfter) await turn()
    })
  return tab.readMs(rows) || Date.now()
}

/** Puts what another tab has read in its place. Where that is all this tab would read, its own turn is put off. */
export const takeRows = <
  ListQuery extends { starting_after?: string | undefined; limit?: number | undefined },
  Page extends { has_more: boolean },
  Row extends { id: string },
>(
  list: Refreshed<ListQuery, Page, Row>,
  client: QueryClient,
  shown: Shown<Row>,
  { starting_after, limit, answer }: Reading,
): void => {
  const own = rowsToRead(list, client, shown)
  putRows(list, client, starting_after, answer as Page)
  const key = refreshKey(list.queryKey)
  const state = client.getQueryState(key)
  const isAll = own && own.starting_after === starting_after && own.limit <= limit
  if (isAll && state?.fetchStatus === 'idle' && !state.isInvalidated) client.setQueryData(key, Date.now())
}

/** Puts an answer in its place, if the row it was read from is still there. */
const putRows = <
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
