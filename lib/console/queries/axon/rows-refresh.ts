import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/react-query'
import type { AxonList, AxonListQuery } from '#lib/contract/axons.ts'
import { maxPageSize } from '#lib/contract/paging.ts'
import type { AxonFilter } from '../../address/axon-view.ts'
import { dueAfter, inTurn } from '../list/in-turn.ts'
import { listName, refreshKey, tabLists } from '../list/tab-lists.ts'
import { type AxonRows, firstRows, isRefreshed, moreRows, type PageParam, readSince, refreshMs } from './rows.ts'

type LoadedAxons = InfiniteData<AxonRows, PageParam>

/** How long rows stand before they are read again where they are many: an answer of megabytes. */
const longRefreshMs = 60_000
interface RowsRefresh {
  /** Of the list. */
  queryKey: QueryKey
  filter: AxonFilter
  read: (query: AxonListQuery, signal: AbortSignal) => Promise<AxonList>
}

/** Reads all loaded rows again in one call, unless another tab has just done it or does it now. */
export const refreshRows = (
  { queryKey, filter, read }: RowsRefresh,
  client: QueryClient,
  signal: AbortSignal,
): Promise<void> =>
  inTurn(listName(queryKey), signal, async () => {
    const before = loadedRows(client, queryKey)
    if (!before) return
    const loaded = countOf(before)
    const restMs = loaded > moreRows ? longRefreshMs : refreshMs
    if (Date.now() - readSince(before.pages) < restMs * dueAfter) return
    const asked_at_ms = Date.now()
    const limit = Math.max(1, mostRows(before))
    const answer = await read({ ...filter, limit }, signal)
    const rows = { ...answer, read_at_ms: Date.now() }
    // What was loaded or written meanwhile is newer than this answer.
    client.setQueryData<LoadedAxons>(queryKey, (now) => (now === before ? inPagesOf(before, rows) : now))
    const told: ToldRows = { ...rows, asked_at_ms }
    tabLists(client).tell({ list: listName(queryKey), starting_after: filter.starting_after, limit, answer: told })
  })

/** What is told to other tabs. */
export interface ToldRows extends AxonRows {
  asked_at_ms: number
}

/** Takes what another tab has read in place of all rows, where it is as many; this tab's own turn is put off. */
export const takeRows = (queryKey: QueryKey, client: QueryClient, answer: ToldRows): void => {
  const before = loadedRows(client, queryKey)
  if (!before) return
  const { asked_at_ms, ...rows } = answer
  const isEnough = !rows.has_more || rows.axons.length >= countOf(before)
  const isNewest = before.pages.every(({ read_at_ms }) => read_at_ms <= asked_at_ms)
  if (!isEnough || !isNewest) return
  const most = mostRows(before)
  const fitting = rows.axons.length > most ? { ...rows, axons: rows.axons.slice(0, most), has_more: true } : rows
  client.setQueryData<LoadedAxons>(queryKey, inPagesOf(before, fitting))
  const key = refreshKey(queryKey)
  if (client.getQueryState(key)?.fetchStatus === 'idle') client.setQueryData(key, null)
}

/** The rows that are loaded, if they are read again in one call and nothing else reads them now. */
const loadedRows = (client: QueryClient, queryKey: QueryKey): LoadedAxons | null => {
  const loaded = client.getQueryData<LoadedAxons>(queryKey)
  const isBeingRead = client.isFetching({ queryKey, exact: true }) > 0
  return !loaded || isBeingRead || !isRefreshed(loaded.pages) ? null : loaded
}

const countOf = ({ pages }: LoadedAxons) => pages.reduce((sum, { axons }) => sum + axons.length, 0)

/** A list that ends has its new rows added; one that goes on keeps its length. */
const mostRows = (loaded: LoadedAxons) =>
  loaded.pages.at(-1)?.has_more ? countOf(loaded) : Math.min(maxPageSize, countOf(loaded) + firstRows)

/** One answer cut into the pages that were loaded; what it has more goes into the last. */
const inPagesOf = ({ pages, pageParams }: LoadedAxons, answer: AxonRows): LoadedAxons => {
  const cut: LoadedAxons = { pages: [], pageParams: [] }
  let start = 0
  for (const [at, { axons }] of pages.entries()) {
    const isLast = at === pages.length - 1 || start + axons.length >= answer.axons.length
    const end = isLast ? answer.axons.length : start + axons.length
    cut.pages.push({ ...answer, axons: answer.axons.slice(start, end), has_more: !isLast || answer.has_more })
    const param = pageParams[at]
    if (param) cut.pageParams.push(at === 0 ? param : { ...param, after: answer.axons[start - 1]?.id })
    start = end
    if (isLast) break
  }
  return cut
}
