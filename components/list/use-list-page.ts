'use client'
import {
  type QueryKey,
  queryOptions,
  skipToken,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { activeFilters, type ListSource, type ListView, withoutFilters } from '#lib/browser/lists/list-source.ts'
import { emptySelection } from './column.ts'
import { type HowToChange, useAddress } from './use-address.ts'
import { useGoneRows } from './use-gone-rows.ts'
import { useListMemory } from './use-list-memory.ts'
import { useSteadyRows } from './use-steady-rows.ts'

interface Identified {
  id: string
  name?: string | null | undefined
}
const idOf = ({ id }: Identified) => id

/** Fewer rows than this may not fill the screen. */
const fewRows = 20
/** Rows read in search of matching ones before somebody has to ask for more. */
const mostSearched = 2_000

const neverRefreshed = queryOptions<number | null, Error, number | null, QueryKey>({
  queryKey: ['list-not-refreshed'],
  queryFn: skipToken,
})

/**
 * A list page: its address, the pages that are loaded, the rows that are shown, what is selected, and how it is brought
 * back as it was. `view` is what was typed last; the rows are of what has settled.
 */
export const useListPage = <View extends ListView, Page, Param, Row extends Identified>(
  source: ListSource<View, Page, Param, Row>,
) => {
  const { problems, view, settled, change, followHere } = useAddress(source)
  const address = source.path(settled)
  const isAsked = problems.length === 0
  const list = useInfiniteQuery({
    ...source.pages(settled),
    // What is loaded is read again by `refresh`, and not page by page.
    enabled: ({ state }) => isAsked && (!source.refresh || state.data === undefined),
  })
  const { data, isPlaceholderData, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list
  const loaded = useMemo(() => data?.pages.flatMap(source.rowsOf) ?? [], [data, source])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address names the view
  const matching = useMemo(
    () => (source.matches ? loaded.filter(source.matches(settled)) : loaded),
    [loaded, source, address],
  )
  const arrangement = source.arrange?.by.map((part) => settled[part])
  // biome-ignore lint/correctness/useExhaustiveDependencies: other parts of the view leave the rows as they are
  const arranged = useMemo(
    () => source.arrange?.rows(matching, settled) ?? matching,
    [matching, source, JSON.stringify(arrangement)],
  )
  const { rows, waiting, release, pointer } = useSteadyRows(address, arranged, idOf, source.refresh !== undefined)

  const { gone, forgetGone, expectGone } = useGoneRows({
    address,
    loaded,
    shown: arranged,
    hasMore: hasNextPage,
    isOther: isPlaceholderData || data === undefined,
  })

  const inView = useRef({ first: 0, last: 0 })
  const latest = useRef({ rows, loaded })
  useEffect(() => {
    latest.current = { rows, loaded }
  })
  // Of now, whenever it is asked: another tab may tell of its reading at any time.
  const shown = () => {
    const { rows, loaded } = latest.current
    const { first, last } = inView.current
    const seen = new Set(rows.slice(first, last + 1).map(idOf))
    const places = loaded.flatMap(({ id }, place) => (seen.has(id) ? [place] : []))
    return {
      from: places[0] ?? 0,
      to: (places.at(-1) ?? -1) + 1,
      rows: loaded.filter(({ id }) => seen.has(id)),
      loaded: loaded.length,
    }
  }
  const refreshing = source.refresh?.(settled, shown)
  const client = useQueryClient()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is named by its address
  useEffect(() => refreshing?.join(client), [client, address])
  const refresh = useQuery({
    ...(refreshing?.query ?? neverRefreshed),
    enabled: isAsked && source.refresh !== undefined && data !== undefined && !isPlaceholderData,
  })

  const [selection, setSelection] = useState(emptySelection)
  const setSelected = (ids: readonly string[]) => setSelection(Object.fromEntries(ids.map((id) => [id, true as const])))
  const selectedRows = useMemo(() => rows.filter(({ id }) => Object.hasOwn(selection, id)), [rows, selection])

  const loadMore = hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined
  // Filters of the page may leave too few rows to scroll to their end.
  const isSearching =
    arranged.length < Math.min(fewRows, loaded.length) &&
    loaded.length < mostSearched &&
    hasNextPage &&
    !isFetchNextPageError &&
    !isPlaceholderData
  useEffect(() => {
    if (isSearching) loadMore?.()
  }, [isSearching, loadMore])
  useListMemory({
    address,
    loaded: isPlaceholderData ? 0 : loaded.length,
    // A list that could not go on is shown as far as it is.
    hasMore: hasNextPage && !isFetchNextPageError,
    loadMore,
    selected: new Set(Object.keys(selection)),
    onRestore: setSelected,
  })

  return {
    noun: source.noun,
    nouns: source.nouns,
    problems,
    view,
    change,
    /** Another list, which starts from its newest row. */
    narrow: (part: Partial<View>, how: HowToChange) => change({ starting_after: undefined, ...part }, how),
    followHere,
    list,
    loaded,
    rows,
    matching: arranged.length,
    /** Loaded rows that the service returned although they don't match. */
    unmatched: isPlaceholderData ? 0 : loaded.length - matching.length,
    /** More pages are being read because too few of the loaded rows match. */
    isSearching,
    waiting,
    release,
    gone: gone.map(({ id, name }) => name || id),
    forgetGone,
    /** A row was deleted here: those that are held for the pointer are let go of, and it is not told to be gone. */
    onDeleted: (id: string) => {
      expectGone(id)
      release()
    },
    pointer,
    filters: activeFilters(source, view),
    clearHref: withoutFilters(source, view),
    refreshError: refresh.error,
    /** At once, and done when they are read. */
    readAgain: async () => refreshing && client.invalidateQueries({ queryKey: refreshing.query.queryKey }),
    readMs: source.refresh && (refresh.data ?? list.dataUpdatedAt),
    newestHref: view.starting_after && source.path({ ...view, starting_after: undefined }),
    selectedRows,
    setSelected,
    selection: { selected: selection, onChange: setSelection },
    /** For the end of the rows; undefined while there is nothing to be loaded by itself. */
    onNearEnd: isFetchNextPageError || isPlaceholderData ? undefined : loadMore,
    /** For the table. */
    table: { rows, rowKey: idOf, busy: isPlaceholderData, inView },
  }
}
