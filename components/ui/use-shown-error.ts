'use client'
import { useState } from 'react'

interface Fetched {
  status: 'pending' | 'error' | 'success'
  error: unknown
}

/**
 * The error to show for a query: the last one until an answer replaces it. A query that is tried again is pending in
 * between, and a page that showed a skeleton each time would flicker.
 */
export const useShownError = ({ status, error }: Fetched): unknown => {
  const [last, setLast] = useState<unknown>(null)
  if (status === 'error' && last !== error) setLast(error)
  if (status === 'success' && last !== null) setLast(null)
  return status === 'success' ? null : (error ?? last)
}
