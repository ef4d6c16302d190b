'use client'
import { useState } from 'react'
import { type Problem, problemOf } from './problem.ts'
import { useClock } from './use-clock.ts'

interface Fetched {
  status: 'pending' | 'error' | 'success'
  error: unknown
}

/** Keeps the last error until a response replaces it, so that retries don't flash a skeleton. */
export const useShownError = ({ status, error }: Fetched): unknown => {
  const [last, setLast] = useState<unknown>(null)
  if (status === 'error' && last !== error) setLast(error)
  if (status === 'success' && last !== null) setLast(null)
  return status === 'success' ? null : (error ?? last)
}

/** Time until a retry is allowed, such as `17 s`; null if it is. */
export const useWait = (error: Problem): string | null => {
  const { retryAtMs = 0 } = problemOf(error)
  return useClock((nowMs) => {
    const seconds = Math.ceil((retryAtMs - nowMs) / 1000)
    if (seconds <= 0) return null
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  })
}
