import { useCallback, useSyncExternalStore } from 'react'

/** Calls `changed` whenever the window begins or ceases to match a media query, until the answer is called. */
export const onMediaChange = (query: string, changed: () => void): (() => void) => {
  const media = matchMedia(query)
  media.addEventListener('change', changed)
  return () => media.removeEventListener('change', changed)
}

/** Whether the window matches a media query; false on the server. */
export const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    useCallback((changed: () => void) => onMediaChange(query, changed), [query]),
    () => matchMedia(query).matches,
    () => false,
  )
