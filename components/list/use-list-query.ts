'use client'
import {
  type QueryKey,
  queryOptions,
  skipToken,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useParameter } from '#components/settings/support-queries.ts'
import { readTab, writeTab } from '#lib/browser/frame/tab-storage.ts'
import { forService, isSortedByService } from '#lib/browser/lists/service-sort.ts'
import { toServiceTime } from '#lib/client/clock.ts'
import { type Column, emptySelection } from './column.ts'
import type { Sort } from './data-table.tsx'
import { activeFilters, type ListParams, type ListSource, withoutFilters } from './list-source.ts'
import { readSort, sortRows, writeSort } from './sort-rows.ts'
import { type HowToChange, useAddress } from './use-address.ts'

const idOf = ({ id }: { id: string }) => id

/** A row that moves in a sorted list is returned in two pages. */
const latestOfEach = <Row extends { id: string }>(rows: readonly Row[]): readonly Row[] => {
  const places = new Map(rows.map(({ id }, place) => [id, place]))
  return places.size === rows.length ? rows : rows.filter(({ id }, place) => places.get(id) === place)
}

/** Fewer rows may not fill the screen, so more are loaded. */
const minRows = 20
/** Rows loaded in search of matches before the user has to ask for more. */
const maxSearched = 2_000
/** Rows loaded to be sorted by the page. */
const maxSorted = 1_000

const noRefresh = queryOptions<number | null, Error, number | null, QueryKey>({
  queryKey: ['no-list-refresh'],
  queryFn: skipToken,
})

/** State of a list page: its address, loaded pages, rows shown and selection. `params` follows typing; rows follow the address. */
export const useListQuery = <Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }>(
  source: ListSource<Params, ListQuery, Page, PageParam, Row>,
  /** If values of the source's columns come from elsewhere. */
  columns: readonly Column<Row>[] = source.columns ?? [],
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
  const canSort = useParameter(source.endpoint, 'sort')
  const query = forService(source.queryOf(settled), canSort)
  const isServiceSorted = isSortedByService(query)
  const sort = useMemo(() => readSort(settled.sort, columns), [settled.sort, columns])
  const pageSort = isServiceSorted ? null : sort
  const { rowsOf, refresh: refreshOf, ...options } = source.list(query)
  const list = useInfiniteQuery({
    ...options,
    // Once loaded, only `refresh` polls: it needs one call, not one per page.
    enabled: ({ state }) => isValid && (!refreshOf || state.data === undefined),
  })
  const { data, isPlaceholderData, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list
  // biome-ignore lint/correctness/useExhaustiveDependencies: a source always reads rows the same way
  const loaded = useMemo(() => latestOfEach(data?.pages.flatMap(rowsOf) ?? []), [data, source])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address identifies the query
  const matching = useMemo(
    () => (source.matches ? loaded.filter(source.matches(query)) : loaded),
    [loaded, source, address],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address identifies the parameters
  const filtered = useMemo(() => source.arrange?.(matching, settled) ?? matching, [matching, source, address])
  const arranged = useMemo(
    () => (pageSort ? sortRows(filtered, pageSort, columns) : filtered),
    [filtered, pageSort, columns],
  )
  const { rows, release, pointer } = useSteadyRows(address, arranged, refreshOf !== undefined)

  const filter = (part: Partial<Params>, how: HowToChange) => change({ starting_after: undefined, ...part }, how)
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
    ((arranged.length < Math.min(minRows, loaded.length) && loaded.length < maxSearched) ||
      (pageSort !== null && loaded.length < maxSorted)) &&
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
    filter,
    followHere,
    query: list,
    loaded,
    rows,
    matching: arranged.length,
    /** Loaded rows that the service returned although they don't match. */
    unmatched: isPlaceholderData ? 0 : loaded.length - matching.length,
    /** More pages are being loaded because too few rows match. */
    isSearching,
    release,
    pointer,
    filters: activeFilters(source, params),
    clearHref: withoutFilters(source, params),
    firstHref: params.starting_after && source.path({ ...params, starting_after: undefined }),
    sorted: sort && (isServiceSorted ? ('service' as const) : ('page' as const)),
    canSort,
    /** Whole list. */
    address: source.path({ ...params, starting_after: undefined }),
    sortColumns: columns,
    refreshError: refreshed.error,
    refresh: async () => refresh && client.invalidateQueries({ queryKey: refresh.queryKey }),
    refreshedAtMs: refresh && (refreshed.data ?? toServiceTime(list.dataUpdatedAt)),
    selectedRows,
    clearSelection: () => setSelection(emptySelection),
    /** Undefined while loading and when nothing should load by itself. */
    onNearEnd: isFetchNextPageError || isPlaceholderData ? undefined : loadMore,
    table: {
      rows,
      rowKey: idOf,
      busy: isPlaceholderData,
      inView,
      sort: readSort(params.sort, columns),
      ...(columns.length > 0 && {
        onSort: (next: Sort | null) => filter({ sort: next ? writeSort(next) : undefined } as Partial<Params>, 'push'),
      }),
      order: 'newest first',
    },
    selection: { selected: selection, onChange: setSelection },
  }
}

/** Keeps rows in place while the pointer is over a polled list; new rows above the last one wait. */
const useSteadyRows = <Row extends { id: string }>(list: string, fresh: readonly Row[], isPolled: boolean) => {
  const [hold, setHold] = useState<{ list: string; rows: readonly Row[] }>()
  const isHeld = isPolled && hold?.list === list && hold.rows.length > 0
  const rows = useMemo(() => (isHeld ? steadyRows(hold.rows, fresh) : fresh), [isHeld, hold, fresh])
  return {
    rows,
    release: () => setHold(undefined),
    /** For the element around the rows. Touch has no hover. */
    pointer: isPolled
      ? {
          onPointerEnter: (event: PointerEvent) => event.pointerType === 'mouse' && setHold({ list, rows: fresh }),
          onPointerLeave: () => setHold(undefined),
        }
      : {},
  }
}

export const steadyRows = <Row extends { id: string }>(held: readonly Row[], fresh: readonly Row[]): Row[] => {
  const byId = new Map(fresh.map((row) => [row.id, row]))
  const heldIds = new Set(held.map(({ id }) => id))
  const lastHeld = fresh.findLastIndex(({ id }) => heldIds.has(id))
  return [
    ...held.map((row) => byId.get(row.id) ?? row),
    ...fresh.slice(lastHeld + 1).filter(({ id }) => !heldIds.has(id)),
  ]
}

interface MemoryOptions {
  address: string
  loaded: number
  hasMore: boolean
  /** Undefined while a page is loading and when there are no more. */
  loadMore: (() => void) | undefined
}

/** Restores how far a list was loaded and scrolled, after a reload and on the way back. */
const useListMemory = (options: MemoryOptions) => {
  const { address, loaded, hasMore, loadMore } = options
  const wanted = useRef<{ loaded: number; scrollY: number } | null>(null)
  const key = useRef<string>(undefined)
  const latest = useRef(options)
  useEffect(() => {
    latest.current = options
  })

  // biome-ignore lint/correctness/useExhaustiveDependencies: only on arrival; later this page changes the address itself
  useEffect(() => {
    const memory = readMemory(memoryKey(address))
    if (memory && memory.scrollY > 0) wanted.current = memory
  }, [])

  useEffect(() => {
    key.current = memoryKey(address)
  }, [address])

  useEffect(() => {
    let scrollY = window.scrollY
    // Tracked by events: when this page unmounts, the next one may have scrolled already.
    const onScroll = () => {
      scrollY = window.scrollY
    }
    const giveUp = () => {
      wanted.current = null
    }
    const save = () => {
      const memory = { loaded: latest.current.loaded, scrollY: wanted.current?.scrollY ?? scrollY }
      if (key.current) writeTab(key.current, JSON.stringify(memory))
    }
    addEventListener('scroll', onScroll, { passive: true })
    for (const type of ['wheel', 'touchmove', 'keydown']) addEventListener(type, giveUp, { passive: true })
    addEventListener('pagehide', save)
    return () => {
      save()
      removeEventListener('scroll', onScroll)
      for (const type of ['wheel', 'touchmove', 'keydown']) removeEventListener(type, giveUp)
      removeEventListener('pagehide', save)
    }
  }, [])

  useEffect(() => {
    if (!wanted.current || loaded === 0) return
    if (loaded < wanted.current.loaded && hasMore) return loadMore?.()
    const { scrollY } = wanted.current
    wanted.current = null
    // Once the table has its height.
    requestAnimationFrame(() => window.scrollTo({ top: scrollY, behavior: 'instant' }))
  }, [loaded, hasMore, loadMore])
}

/** Keyed by history entry, which survives a reload but not a new visit. Undefined in browsers without the Navigation API. */
const memoryKey = (address: string): string | undefined => {
  const { navigation } = globalThis as { navigation?: { currentEntry?: { key?: string } | null } }
  const entry = navigation?.currentEntry?.key
  return entry && `devdeck:list:${entry}:${address}`
}

const readMemory = (key: string | undefined): { loaded: number; scrollY: number } | null =>
  key === undefined ? null : JSON.parse(readTab(key) ?? 'null')
