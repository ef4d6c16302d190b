'use client'
import { type DehydratedState, HydrationBoundary } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { toLocalTime } from '#lib/client/clock.ts'

interface PrefetchedProps {
  state: DehydratedState
  /** When the console read the data, by the service's clock. */
  readMs: number
  children: ReactNode
}

/** Fills the query cache, which compares times by this computer's clock. */
export const Prefetched = ({ state, readMs, children }: PrefetchedProps) => {
  const local = useMemo(() => {
    const dataUpdatedAt = toLocalTime(readMs)
    return { ...state, queries: state.queries.map((query) => ({ ...query, state: { ...query.state, dataUpdatedAt } })) }
  }, [state, readMs])
  return <HydrationBoundary state={local}>{children}</HydrationBoundary>
}
