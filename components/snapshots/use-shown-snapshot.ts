import { useSearchParams } from 'next/navigation'
import { useCallback, useRef } from 'react'

/** The snapshot whose sheet is open, stored in the address so that links and the back button work. */
export const useShownSnapshot = () => {
  const id = useSearchParams().get('snapshot')
  const isPushed = useRef(false)
  const show = useCallback((next: string) => {
    isPushed.current = true
    history.pushState(null, '', urlWith(next))
  }, [])
  const close = useCallback(() => {
    // Opened by a link, there is no history entry to go back to.
    if (isPushed.current) history.back()
    else history.replaceState(null, '', urlWith(null))
    isPushed.current = false
  }, [])
  return { id, show, close }
}

const urlWith = (id: string | null): URL => {
  const url = new URL(location.href)
  if (id === null) url.searchParams.delete('snapshot')
  else url.searchParams.set('snapshot', id)
  return url
}
