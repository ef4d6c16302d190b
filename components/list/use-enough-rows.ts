'use client'
import { useEffect } from 'react'

const fewRows = 20

interface LoadedRows {
  rows: readonly unknown[]
  loaded: readonly unknown[]
  onNearEnd: (() => void) | undefined
}

/**
 * What a page's own filters leave of the rows may be too short to be scrolled to its end: it loads on by itself, up to
 * `mostLoaded`, as each page is read again with each refresh.
 */
export const useEnoughRows = ({ rows, loaded, onNearEnd }: LoadedRows, mostLoaded = Number.POSITIVE_INFINITY): void => {
  const isFew = rows.length < fewRows && loaded.length < mostLoaded
  useEffect(() => {
    if (isFew) onNearEnd?.()
  }, [isFew, onNearEnd])
}
