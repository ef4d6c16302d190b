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
import { emptySelection } from './column.ts'
import { useListMemory } from './list-memory.ts'
import { activeFilters, type ListParams, type ListSource, withoutFilters } from './list-source.ts'
import { useSteadyRows } from './steady-rows.ts'
import { type HowToChange, useAddress } from './use-address.ts'

const idOf = ({ id }: { id: string }) => id

/** Fewer rows may not fill the screen, so more are loaded. */
const minRows = 20
/** Rows loaded in search of matches before the user has to ask for more. */
const maxSearched = 2_000

const noRefresh = queryOptions<number | null, Error, number | null, QueryKey>({
  queryKey: ['no-list-refresh'],
  queryFn: skipToken,
})

/** State of a list page: its address, loaded pages, rows shown and selection. `params` follows typing; rows follow the address. */
export const useListQuery = <Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }>(
  source: ListSource<Params, ListQuery, Page, PageParam, Row>,
) => {
  const client = useQueryClient()
  const {
    problems,
    view: params,
    settled,
    change,
    followHere,
  } = useAddress({ schema: source.params, path: source.path })
  const address = source.path(settled)
  const isValid = problems.length === 0
  const query = source.queryOf(settled)
  const { rowsOf, refresh: refreshOf, ...options } = source.list(query)
  const list = useInfiniteQuery({
    ...options,
    // Once loaded, only `refresh` polls: it needs one call, not one per page.
    enabled: ({ state }) => isValid && (!refreshOf || state.data === undefined),
  })
  const { data, isPlaceholderData, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list
  // biome-ignore lint/correctness/useExhaustiveDependencies: a source always reads rows the same way
  const loaded = useMemo(() => data?.pages.flatMap(rowsOf) ?? [], [data, source])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address identifies the query
  const matching = useMemo(
    () => (source.matches ? loaded.filter(source.matches(query)) : loaded),
    [loaded, source, address],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address identifies the parameters
  const arranged = useMemo(() => source.arrange?.(matching, settled) ?? matching, [matching, source, address])
  const { rows, waiting, release, pointer } = useSteadyRows(address, arranged, refreshOf !== undefined)

  const inView = useRef({ first: 0, last: 0 })
  const latest = useRef({ rows, loaded })
  useEffect(() => {
    latest.current = { rows, loaded }
  })
  const refresh = refreshOf?.(() => {
    const { rows, loaded } = latest.current
    const ids = new Set(rows.slice(inView.current.first, inView.current.last + 1).map(idOf))
    const from = loaded.findIndex(({ id }) => ids.has(id))
    const to = loaded.findLastIndex(({ id }) => ids.has(id)) + 1
    return { from: Math.max(0, from), to, rows: loaded.filter(({ id }) => ids.has(id)), loaded: loaded.length }
  })
  const refreshed = useQuery({
    ...(refresh ?? noRefresh),
    enabled: isValid && refresh !== undefined && data !== undefined && !isPlaceholderData,
  })

  const [selection, setSelection] = useState(emptySelection)
  const selectedRows = useMemo(() => rows.filter(({ id }) => Object.hasOwn(selection, id)), [rows, selection])

  const loadMore = hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined
  const isSearching =
    arranged.length < Math.min(minRows, loaded.length) &&
    loaded.length < maxSearched &&
    hasNextPage &&
    !isFetchNextPageError &&
    !isPlaceholderData
  useEffect(() => {
    if (isSearching) loadMore?.()
  }, [isSearching, loadMore])
  useListMemory({
    address,
    loaded: isPlaceholderData ? 0 : loaded.length,
    hasMore: hasNextPage && !isFetchNextPageError,
    loadMore,
  })

  return {
    noun: source.noun,
    nouns: source.nouns,
    problems,
    params,
    change,
    /** Changes the filters and starts at the first row again. */
    filter: (part: Partial<Params>, how: HowToChange) => change({ starting_after: undefined, ...part }, how),
    followHere,
    query: list,
    loaded,
    rows,
    matching: arranged.length,
    /** Loaded rows that the service returned although they don't match. */
    unmatched: isPlaceholderData ? 0 : loaded.length - matching.length,
    /** More pages are being loaded because too few rows match. */
    isSearching,
    waiting,
    release,
    pointer,
    filters: activeFilters(source, params),
    clearHref: withoutFilters(source, params),
    firstHref: params.starting_after && source.path({ ...params, starting_after: undefined }),
    refreshError: refreshed.error,
    refresh: async () => refresh && client.invalidateQueries({ queryKey: refresh.queryKey }),
    refreshedAtMs: refresh && (refreshed.data ?? list.dataUpdatedAt),
    selectedRows,
    clearSelection: () => setSelection(emptySelection),
    /** Undefined while loading and when nothing should load by itself. */
    onNearEnd: isFetchNextPageError || isPlaceholderData ? undefined : loadMore,
    table: { rows, rowKey: idOf, busy: isPlaceholderData, inView },
    selection: { selected: selection, onChange: setSelection },
  }
}
