'use client'
import { useSearchParams } from 'next/navigation'
import { type MouseEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Parsed } from '#lib/contract/query-string.ts'

const pauseMs = 250

/**
 * A page's address as its state, changed without asking the server for the page again. `view` is what was typed last,
 * `settled` what the address says; typing settles when it pauses.
 */
export const useAddress = <View extends object>(
  read: (params: URLSearchParams) => Parsed<View>,
  write: (view: View) => string,
) => {
  const text = useSearchParams().toString()
  const parsed = useMemo(() => read(new URLSearchParams(text)), [read, text])
  const [draft, setDraft] = useState<{ view: View; isWritten: boolean } | null>(null)
  const [known, setKnown] = useState(text)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const settled = parsed.ok ? parsed.value : null
  // Once what was chosen is written, the address has the last word, the back button's too; while more is being typed,
  // an address that was written before must not take it back.
  if (known !== text) {
    setKnown(text)
    if (draft?.isWritten) setDraft(null)
  }
  const view = draft ? draft.view : settled

  const latest = useRef(view)
  useEffect(() => {
    latest.current = view
  })
  const change = useCallback(
    (part: Partial<View>, how: 'type' | 'replace' | 'push') => {
      clearTimeout(timer.current)
      if (!latest.current) return
      const next = { ...latest.current, ...part }
      latest.current = next
      setDraft({ view: next, isWritten: false })
      const settle = () => {
        setDraft({ view: next, isWritten: true })
        if (how === 'push') history.pushState(null, '', write(next))
        else history.replaceState(null, '', write(next))
      }
      if (how === 'type') timer.current = setTimeout(settle, pauseMs)
      else settle()
    },
    [write],
  )
  /** Follows a link to the page it stands on (a filter, a chip) without asking the server for the page again. */
  const followHere = useCallback(
    (event: MouseEvent) => {
      const url = plainlyClicked(event)
      if (!url || url.origin !== location.origin || url.pathname !== location.pathname) return
      event.preventDefault()
      // The link was made with what is typed so far, which must not be written over it when the pause ends.
      clearTimeout(timer.current)
      const linked = read(url.searchParams)
      latest.current = linked.ok ? linked.value : null
      setDraft(linked.ok ? { view: linked.value, isWritten: true } : null)
      history.pushState(null, '', url)
    },
    [read],
  )
  return { parsed, view, settled, change, followHere }
}

/** Where a click leads that opens a link in this very tab. */
const plainlyClicked = (event: MouseEvent): URL | null => {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
  return !link || !isPlain || link.target || link.hasAttribute('download') ? null : new URL(link.href)
}
