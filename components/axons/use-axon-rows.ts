'use client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { type AxonFilter, type AxonView, apiQueryOf } from '#lib/console/address/axon-view.ts'
import { matcherOf, refines, shownBy, sortAxons, sortOf } from '#lib/console/lists/axon-rows.ts'
import { axonQueries, countedIn, fitsOneCall } from '#lib/console/queries/axons.ts'

/**
 * The rows of a view. Once everything a filter matches is loaded, narrower filters are answered from it without a call;
 * else what is loaded answers until the service does, which is asked when typing has settled.
 */
export const useAxonRows = (view: AxonView, settled: AxonView) => {
  const filter = useSame(apiQueryOf(view))
  const asked = useSame(apiQueryOf(settled))
  const [source, setSource] = useState<AxonFilter>(asked)
  const list = useInfiniteQuery(axonQueries.rows(source, view.limit))
  const { data, isPlaceholderData, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list
  const isWhole = data !== undefined && !hasNextPage && !isPlaceholderData
  if (source !== asked && !(isWhole && refines(source, asked))) setSource(asked)

  const loaded = useMemo(() => data?.pages.flatMap(({ axons }) => axons) ?? [], [data])
  const isOwn = sameFilter(source, filter) && !isPlaceholderData
  const matching = useMemo(() => (isOwn ? loaded : loaded.filter(matcherOf(filter))), [loaded, isOwn, filter])
  const isExact = isOwn || (isWhole && refines(source, filter))

  const { state, created, sort } = view
  const narrowed = useMemo(
    () => (state || created ? matching.filter(shownBy({ state, created })) : matching),
    [matching, state, created],
  )
  const rows = useMemo(() => {
    const by = sortOf({ sort })
    return by ? sortAxons(narrowed, by) : narrowed
  }, [narrowed, sort])

  const bringsAll = hasNextPage && !isPlaceholderData && view.limit === undefined && fitsOneCall(data?.pages ?? [])
  useEffect(() => {
    if (bringsAll && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage()
  }, [bringsAll, isFetchingNextPage, isFetchNextPageError, fetchNextPage])

  const totalOf = (): number | null => {
    // A list that starts at a cursor does not know how much lies before it.
    if (!isExact || filter.starting_after) return null
    return isWhole ? matching.length : countedIn(data?.pages ?? [])
  }
  return {
    list,
    rows,
    /** How many of the axons that match the service's filters are loaded. */
    loaded: matching.length,
    /** How many there are in all; null when nobody counted. */
    total: totalOf(),
    isWhole: isWhole && isExact,
    /** The service has not answered this filter yet. */
    isAsking: !isExact,
  }
}

const sameFilter = (a: AxonFilter, b: AxonFilter) => JSON.stringify(a) === JSON.stringify(b)

/** The value of an earlier draw as long as it says the same, so that what depends on it stays as well. */
const useSame = (value: AxonFilter): AxonFilter => {
  const [kept, setKept] = useState(value)
  if (kept === value || sameFilter(kept, value)) return kept
  setKept(value)
  return value
}
