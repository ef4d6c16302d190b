import { focusManager, type InfiniteData, type QueryClient } from '@tanstack/react-query'
import { defaultPageSize, maxPageSize } from '#lib/contract/common.ts'
import { isMissing } from '../../api/failures.ts'
import { type RowRange, refreshedPages } from '../../lists/refreshed-pages.ts'
import { dueAfter, inTurn } from './in-turn.ts'
import { movingMs, type Refreshed, type Shown } from './pages.ts'
import { listName, type Reading, type ReadRows, refreshKey, tabLists } from './tab-lists.ts'

/** Rows beside those that are shown, so that a short scroll leads to nothing old. */
const margin = 15

/** The most rows that one tab reads for all of them; whoever shows rows farther away reads for itself. */
const mostShared = 2_000

type LoadedList<Page> = InfiniteData<Page, string | undefined>

interface Turn extends RowRange {
  everyMs: number
  client: QueryClient
  signal: AbortSignal
}

interface ListQueryOf {
  starting_after?: string | undefined
  limit?: number | undefined
}

const loadedRows = <ListQuery, Page, Row>({ queryKey, rowsOf }: Refreshed<ListQuery, Page, Row>, client: QueryClient) =>
  client.getQueryData<LoadedList<Page>>(queryKey)?.pages.flatMap(rowsOf)

/**
 * What is read when rows of a range are read again: they, those beside them, and no less than a page. Of a list that is
 * read as a whole all rows, where one call can bring them.
 */
const rowsToRead = <ListQuery extends ListQueryOf, Page, Row>(
  { query: { limit = defaultPageSize }, isWhole }: Refreshed<ListQuery, Page, Row>,
  loaded: number,
  range: RowRange,
): RowRange => {
  const { from, to } = isWhole && loaded <= maxPageSize ? { from: 0, to: loaded } : range
  const first = Math.max(0, Math.min(from - margin, loaded - 1))
  return { from: first, to: first + Math.min(maxPageSize, Math.max(to + margin - first, limit)) }
}

/** These rows with as many of those that others want as one call is asked for. */
const withWanted = (own: RowRange, wanted: readonly RowRange[]): RowRange => {
  let all = own
  for (const { from, to } of wanted) {
    const next = { from: Math.min(all.from, from), to: Math.max(all.to, to) }
    if (next.to - next.from <= mostShared) all = next
  }
  return all
}

/** Whether what was read has all rows of a range in it, each of which is known by the loaded row before it. */
const hasAll =
  <Row extends { id: string }>({ starting_after }: ListQueryOf, loaded: readonly Row[], { from, to }: RowRange) =>
  (read: ReadRows): boolean => {
    const first =
      read.starting_after === starting_after ? 0 : loaded.findIndex(({ id }) => id === read.starting_after) + 1
    const isKnown = first > 0 || read.starting_after === starting_after
    return isKnown && first <= from && first + read.limit >= to
  }

/**
 * Reads the loaded rows of a range again and puts them in their place, unless another tab has just done it or does it now:
 * what it reads comes here as well. With rows that rest it reads those that other tabs are about to read. After a write
 * nobody else's reading will do. Answers when they were last read.
 */
export const refreshList = async <
  ListQuery extends ListQueryOf,
  Page extends { has_more: boolean },
  Row extends { id: string },
>(
  list: Refreshed<ListQuery, Page, Row>,
  { from, to, everyMs, client, signal }: Turn,
): Promise<number> => {
  const { queryKey, query } = list
  const loaded = loadedRows(list, client)
  if (!loaded) return Date.now()
  const name = listName(queryKey)
  const tab = tabLists(client)
  const own = rowsToRead(list, loaded.length, { from, to })
  const read = async (starting_after: string | undefined, limit: number) => {
    const answer = await list.read({ ...query, starting_after, limit }, signal)
    putRows(list, client, starting_after, answer)
    // What reaches the end of the list has all the rows there are.
    tab.tell({ list: name, starting_after, limit: answer.has_more ? limit : Number.POSITIVE_INFINITY, answer })
  }
  const turn = async () => {
    const isResting = everyMs > movingMs
    const { from, to } = isResting ? withWanted(own, tab.wantedSince(name, Date.now() - 2 * everyMs)) : own
    try {
      await read(from === 0 ? query.starting_after : loaded[from - 1]?.id, to - from)
    } catch (error) {
      // The row that the reading starts from is gone: it starts from the top.
      if (from === 0 || !isMissing(error)) throw error
      await read(query.starting_after, to - from)
    }
  }
  const areAll = hasAll(query, loaded, own)
  if (client.getQueryState(refreshKey(queryKey))?.isInvalidated) await turn()
  else {
    tab.want(name, own)
    await inTurn(name, signal, async () => {
      if (Date.now() - tab.readMs(name, areAll) >= everyMs * dueAfter) await turn()
    })
  }
  return tab.readMs(name, areAll) || Date.now()
}

/** Puts what another tab has read in its place. Where that is all this tab would read, its own turn is put off. */
export const takeRows = <ListQuery extends ListQueryOf, Page extends { has_more: boolean }, Row extends { id: string }>(
  list: Refreshed<ListQuery, Page, Row>,
  client: QueryClient,
  shown: Shown<Row>,
  { starting_after, limit, answer }: Reading,
): void => {
  const loaded = loadedRows(list, client)
  putRows(list, client, starting_after, answer as Page)
  if (!loaded) return
  const own = rowsToRead(list, loaded.length, shown)
  const key = refreshKey(list.queryKey)
  const state = client.getQueryState(key)
  if (!hasAll(list.query, loaded, own)({ starting_after, limit })) return
  if (state?.fetchStatus === 'idle' && !state.isInvalidated) client.setQueryData(key, Date.now())
  // The tab that reads next is told again: this one's own turn, in which it tells, does not come.
  if (focusManager.isFocused()) tabLists(client).want(listName(list.queryKey), own)
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
