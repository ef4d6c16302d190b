'use client'
import { useSearchParams } from 'next/navigation'
import { useCallback, useRef } from 'react'

/** Which record's sheet is open, according to a parameter of the address. */
export const useSheet = (param: string) => {
  const id = useSearchParams().get(param)
  const isPushed = useRef(false)
  const show = useCallback(
    (next: string) => {
      isPushed.current = true
      history.pushState(null, '', addressWith(param, next))
    },
    [param],
  )
  const close = useCallback(() => {
    // Unless the browser came here by a link to the sheet, the page without it is one step back.
    if (isPushed.current) history.back()
    else history.replaceState(null, '', addressWith(param, null))
    isPushed.current = false
  }, [param])
  return { id, show, close }
}

const addressWith = (param: string, id: string | null): URL => {
  const url = new URL(location.href)
  if (id === null) url.searchParams.delete(param)
  else url.searchParams.set(param, id)
  return url
}
