import { useCallback, useSyncExternalStore } from 'react'

/** Calls `changed` when a media query starts or stops matching; returns a function that unsubscribes. */
export const onMediaChange = (query: string, changed: () => void): (() => void) => {
  const media = matchMedia(query)
  media.addEventListener('change', changed)
  return () => media.removeEventListener('change', changed)
}

/** Always false on the server. */
export const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    useCallback((changed: () => void) => onMediaChange(query, changed), [query]),
    () => matchMedia(query).matches,
    () => false,
  )
