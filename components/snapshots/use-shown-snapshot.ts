import { useSearchParams } from 'next/navigation'
import { useCallback, useRef } from 'react'

/** The snapshot whose sheet is open, as the address says: a link opens it, and the way back closes it. */
export const useShownSnapshot = () => {
  const id = useSearchParams().get('snapshot')
  const isPushed = useRef(false)
  const show = useCallback((next: string) => {
    isPushed.current = true
    history.pushState(null, '', addressWith(next))
  }, [])
  const close = useCallback(() => {
    // The page before the sheet is the one behind it, unless the browser came here by a link to the sheet.
    if (isPushed.current) history.back()
    else history.replaceState(null, '', addressWith(null))
    isPushed.current = false
  }, [])
  return { id, show, close }
}

const addressWith = (id: string | null): URL => {
  const url = new URL(location.href)
  if (id === null) url.searchParams.delete('snapshot')
  else url.searchParams.set('snapshot', id)
  return url
}
